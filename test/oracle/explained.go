package oracle

import "strings"

// explained returns the intended difference that explains all lines of a diff, or a combination of two; nil if there is
// none.
func explained(s Scenario, diff string) *Difference {
	var some []*Difference // differences that explain some of the lines
	for _, d := range s.allowed() {
		if d.Explains == nil || !d.When(s) {
			continue
		}
		switch mine := d.share(diff); {
		case mine == diff && d.shownIn(s, diff):
			return d
		// A combination needs differences that a diff can prove (names): Shows or Proves is set. Others count only
		// alone.
		case mine != "" && d.names() && d.shownIn(s, mine):
			some = append(some, d)
		}
	}
	for i, d := range some {
		for _, other := range some[i+1:] {
			if meet(d, other, diff) {
				both := together(map[*Difference]bool{d: true, other: true})
				both.Parts = d.Parts || other.Parts
				return both
			}
		}
	}
	return nil
}

// share returns the lines of a diff that the difference explains.
func (d *Difference) share(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		if d.Explains(strings.TrimSuffix(line, "\n")) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func (d *Difference) shownIn(s Scenario, diff string) bool {
	return (d.Shows == nil || d.Shows(diff)) && (d.Proves == nil || d.Proves(s, diff))
}

// names reports whether a diff can prove that this difference caused it: Shows or Proves is set.
func (d *Difference) names() bool { return d.Shows != nil || d.Proves != nil }

// meet reports whether two differences together explain all lines of a diff, and whether both are needed: each
// explains a line that the other does not.
func meet(d, other *Difference, diff string) bool {
	alone, otherAlone := false, false
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		mine, its := d.Explains(line), other.Explains(line)
		if !mine && !its {
			return false
		}
		alone, otherAlone = alone || !its, otherAlone || !mine
	}
	return alone && otherAlone
}
