"""The engine: decides checks and proofs, keeps their evidence; knows no paper."""
