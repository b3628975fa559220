"""Reference algorithms for the identification of latent concepts: diagnosis, exact and sampled unmixing, scores."""

from whp.algorithms.concept_identifiability.certificate import Certificate, SpanReport, certify, span_check
from whp.algorithms.concept_identifiability.covariance_unmixing import (
    CovarianceUnmixing,
    class_covariances,
    covariance_unmixing,
    discriminant_components,
)
from whp.algorithms.concept_identifiability.diagnosis import ConceptDiagnosis, Diagnosis, diagnose
from whp.algorithms.concept_identifiability.exact_unmixing import ExactUnmixing, exact_unmixing
from whp.algorithms.concept_identifiability.extra_classes import ExtraClass, choose_classes, split_atoms
from whp.algorithms.concept_identifiability.independent_components import LinearUnmixing, fast_ica, sklearn_fast_ica
from whp.algorithms.concept_identifiability.joint_diagonalisation import (
    JointDiagonalisation,
    joint_diagonalisation,
    joint_diagonalisation_of_two,
)
from whp.algorithms.concept_identifiability.mutual_information import (
    Information,
    InformationGap,
    mutual_information,
    mutual_information_gap,
)
from whp.algorithms.concept_identifiability.scores import (
    MatchedCorrelation,
    amari_distance,
    block_r_squared,
    matched_correlation,
    matched_correlation_of,
    structural_distance,
)
from whp.algorithms.concept_identifiability.structure_matching import match_structures, pull_back_scores
from whp.algorithms.concept_identifiability.whitening import Whitening, whiten

__all__ = [
    "Certificate",
    "ConceptDiagnosis",
    "CovarianceUnmixing",
    "Diagnosis",
    "ExactUnmixing",
    "ExtraClass",
    "Information",
    "InformationGap",
    "JointDiagonalisation",
    "LinearUnmixing",
    "MatchedCorrelation",
    "SpanReport",
    "Whitening",
    "amari_distance",
    "block_r_squared",
    "certify",
    "choose_classes",
    "class_covariances",
    "covariance_unmixing",
    "diagnose",
    "discriminant_components",
    "exact_unmixing",
    "fast_ica",
    "joint_diagonalisation",
    "joint_diagonalisation_of_two",
    "match_structures",
    "matched_correlation",
    "matched_correlation_of",
    "mutual_information",
    "mutual_information_gap",
    "pull_back_scores",
    "sklearn_fast_ica",
    "span_check",
    "split_atoms",
    "structural_distance",
    "whiten",
]
