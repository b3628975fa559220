#!/usr/bin/env perl
# Hoeffding's interval: half-width sqrt(log(1/delta) / (2 n)) for a sample of n and failure probability delta.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # flush each answer
while (my $line = <STDIN>) {
    my ($n, $delta) = @{ decode_json($line)->{call} };
    if ($n < 1) {
        print encode_json({ error => "n must be at least 1" }), "\n";
        next;
    }
    printf qq({"value": %.17g}\n), sqrt(-log($delta) / (2 * $n));
}
