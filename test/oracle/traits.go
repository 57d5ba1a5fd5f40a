package oracle

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// atOnce returns the largest number of pods that a Job of the scenario may have at a time.
func (s Scenario) atOnce() (most int) {
	for _, word := range strings.Fields(s.String()) {
		if text, ok := strings.CutPrefix(word, "parallelism="); ok {
			if n, err := strconv.Atoi(text); err == nil {
				most = max(most, n)
			}
		}
	}
	return most
}

// resizedTwice reports whether an edit changes completions and a later edit changes parallelism.
func resizedTwice(s Scenario) bool {
	first, last := s.edits("completions="), s.edits("parallelism=")
	return len(first) > 0 && len(last) > 0 && first[0] < last[len(last)-1]
}

// has reports whether a word in a line of the scenario begins with text.
func (s Scenario) has(text string) bool {
	for _, line := range strings.Split(s.String(), "\n") {
		if strings.Contains(" "+line, " "+text) {
			return true
		}
	}
	return false
}

// deniesCreatesOfOne reports whether the scenario refuses creates of only some pods, with a fault of this class.
func (s Scenario) deniesCreatesOfOne(class string) bool {
	for _, step := range s.Steps {
		for _, deed := range step.Deeds {
			words := append(strings.Fields(deed), "")
			if len(words) > 3 && words[0] == "deny" && words[1] == "create" && strings.Contains(words[2], ":") && words[3] == class {
				return true
			}
		}
	}
	return false
}

// edits returns the numbers of the steps that edit a field of a Job.
func (s Scenario) edits(field string) (steps []int) {
	for n, step := range s.Steps {
		if slices.ContainsFunc(step.Deeds, func(deed string) bool {
			return strings.HasPrefix(deed, "edit ") && strings.Contains(deed, " "+field)
		}) {
			steps = append(steps, n)
		}
	}
	return steps
}

// refusesRemovals reports whether the scenario at some time refuses to remove finalizers from pods, or to delete pods.
func (s Scenario) refusesRemovals() bool { return s.has("deny patch") || s.has("deny delete") }

// does reports whether the scenario has an action with that verb.
func (s Scenario) does(verb string) bool {
	for _, step := range s.Steps {
		for _, deed := range step.Deeds {
			if strings.HasPrefix(deed, verb+" ") {
				return true
			}
		}
	}
	return false
}

// deeds yields each action of the scenario, and whether requests of that verb are refused from it on.
func (s Scenario) deeds(verb string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		refused := false
		for _, step := range s.Steps {
			for _, deed := range step.Deeds {
				refused = deed != "allow" && (refused || strings.HasPrefix(deed+" ", "deny "+verb+" "))
				if !yield(deed, refused) {
					return
				}
			}
		}
	}
}

// denies reports whether the scenario ends while requests of that verb are refused.
func (s Scenario) denies(verb string) (refused bool) {
	for _, refused = range s.deeds(verb) {
	}
	return refused
}

// shrinksWhileRefused reports whether an edit changes completions while the removal of finalizers is refused.
func (s Scenario) shrinksWhileRefused() (shrinks bool) {
	for deed, refused := range s.deeds("patch") {
		shrinks = shrinks || refused && strings.HasPrefix(deed, "edit ") && strings.Contains(deed, " completions=")
	}
	return shrinks
}

// endsOfSurplus returns how many pods the scenario ends, at most, after an edit made pods surplus while DELETE was
// refused.
func (s Scenario) endsOfSurplus() (most int) {
	surplus := false
	for deed, refused := range s.deeds("delete") {
		verb, rest, _ := strings.Cut(deed, " ")
		switch verb {
		case "edit":
			surplus = surplus || refused && (strings.Contains(rest, " parallelism=") || strings.Contains(rest, " completions=") ||
				strings.Contains(rest, " suspend=true"))
		case "succeed", "fail", "kill", "force":
			switch {
			case !surplus:
			case strings.Contains(rest, "*"):
				most += s.atOnce()
			default:
				most++
			}
		}
	}
	return most
}
