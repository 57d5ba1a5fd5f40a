# Reads what benchmarks of package sidebyside print and writes a table: what is measured, beside what, and how fast the one
# is by the measure of the other.

function time(ns) {
	if (ns >= 1e6) return sprintf("%.2f ms", ns / 1e6)
	if (ns >= 1e4) return sprintf("%.1f us", ns / 1e3)
	return sprintf("%.0f ns", ns)
}

function line(a, b, c, d, e, f) { printf "%-38s %-10s %12s   %-10s %12s %10s\n", a, b, c, d, e, f }

BEGIN { line("benchmark, per unit", "measured", "cost", "beside", "cost", "speed") }

/^Benchmark.* speed\// {
	delete cost; delete speed; unit = ""
	for (i = 3; i < NF; i += 2) {
		if ($(i + 1) ~ /^speed\//) {
			speed[substr($(i + 1), 7)] = $i
		} else if (split($(i + 1), part, "-ns/") == 2) {
			cost[part[1]] = $i
			unit = part[2]
		}
	}
	for (side in cost) if (!(side in speed)) measured = side
	name = $1
	sub(/^Benchmark/, "", name)
	sub(/-[0-9]+$/, "", name)
	for (i = 3; i < NF; i += 2) {
		if ($(i + 1) !~ /^speed\//) continue
		side = substr($(i + 1), 7)
		line(name ", " unit, measured, time(cost[measured]), side, time(cost[side]), sprintf("%.2f", $i))
	}
}
