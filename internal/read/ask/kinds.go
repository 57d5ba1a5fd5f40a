package ask

import (
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/which"
)

// KindNames returns the names of all kinds of records, in the order of their numbers.
func KindNames() []string {
	var out []string
	for k := events.Kind(1); k < 256; k++ {
		if k.Known() {
			out = append(out, k.String())
		}
	}
	return out
}

// ChosenKinds returns the kinds of records that --kind or --decisions name, without duplicates; none for all kinds.
func ChosenKinds(names []string, decisions bool) (kinds []events.Kind, err error) {
	if decisions && len(names) > 0 {
		return nil, which.Wrong("--decisions is short for --kind Decided,WouldDecide: give one of them")
	}
	if decisions {
		return []events.Kind{events.KindDecided, events.KindWouldDecide}, nil
	}
	all := KindNames()
	for _, name := range names {
		bare := strings.ReplaceAll(name, "-", "")
		i := slices.IndexFunc(all, func(k string) bool { return strings.EqualFold(k, bare) })
		if i < 0 {
			return nil, which.Wrong("--kind %s: there is no such kind; there are %s", name, strings.Join(all, ", "))
		}
		if kind, _ := events.KindNamed(all[i]); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}
