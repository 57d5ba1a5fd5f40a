package which_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/which"
)

// TestWhatANameMeans asks for each name, as each kind and from each namespace. What has the name there is meant, with
// all its lives; where the namespace was not given, what has the name in one other namespace. What several have, or
// nothing, is an error of its own.
func TestWhatANameMeans(t *testing.T) {
	src := sourceOf(populated(t))
	kindsOf := map[which.Kind][]string{which.Job: {"job", "pod"}, which.Pod: {"pod"}, which.CronJob: {"cronjob"}}
	told := map[string]int{}
	for _, name := range pool() {
		for _, kind := range []which.Kind{which.Job, which.Pod, which.CronJob} {
			for _, space := range []string{"prod", "dev", "test", "empty"} {
				for _, given := range []bool{true, false} {
					f := finderOf(src)
					got, err := f.Jobs(t.Context(), which.Place{Namespace: space, Named: given}, which.Object{Name: name, Kind: kind})
					what := fmt.Sprintf("%s in %s, given: %t", which.Object{Name: name, Kind: kind}, space, given)
					var want []events.Stream
					for _, k := range kindsOf[kind] {
						if want = having(k, space, name); len(want) > 0 {
							break
						}
					}
					notes := 0
					if len(want) > 0 && want[0].Kind == events.StreamJob && len(having("job", space, name)) == 0 ||
						len(want) > 0 && kind == which.Pod {
						notes = 1 // whose pod it is
					}
					elsewhere := places(space, name, kindsOf[kind]...)
					wrong, unknown := (*which.WrongError)(nil), (*which.UnknownError)(nil)
					switch {
					case len(want) > 0:
						told["here"]++
					case given || len(elsewhere) == 0:
						told["unknown"]++
						if !errors.As(err, &unknown) || strings.Contains(err.Error(), "or any other") == given ||
							!strings.Contains(err.Error(), "in namespace \""+space+`"`) {
							t.Errorf("%s: %v, %v", what, got, err)
						}
						if len(elsewhere) > 0 && name != "apart" && !strings.Contains(err.Error(),
							" -n "+strings.Fields(elsewhere[0])[1]) {
							t.Errorf("%s: another namespace has it: %v", what, err)
						}
						continue
					case len(elsewhere) > 1:
						told["several"]++
						if !errors.As(err, &wrong) || len(wrong.Lines()) != 1+len(elsewhere) ||
							!strings.Contains(err.Error(), fmt.Sprintf("in %d namespaces", len(elsewhere))) {
							t.Errorf("%s: %v, %v", what, got, err)
						}
						continue
					default:
						told["elsewhere"]++
						of, in, _ := strings.Cut(elsewhere[0], " ")
						want, notes = having(of, in, name), 1
						if len(f.notes) != 1 || !strings.HasSuffix(f.notes[0], " is in namespace "+in) {
							t.Errorf("%s: %q", what, f.notes)
						}
					}
					if err != nil || !slices.Equal(got, want) || len(f.notes) != notes {
						t.Errorf("%s: %v, %q, %v, want %v", what, got, f.notes, err, want)
					}
				}
			}
		}
	}
	if told["here"] < 30 || told["unknown"] < 100 || told["several"] < 5 || told["elsewhere"] < 20 {
		t.Errorf("of all kinds: %v", told)
	}
}

// TestWhatANameAloneIs: a Job or a CronJob of the name comes before a pod, and what is here before what is elsewhere.
func TestWhatANameAloneIs(t *testing.T) {
	src := sourceOf(populated(t))
	words := map[which.Kind]string{which.Job: "job", which.CronJob: "cronjob", which.Pod: "pod"}
	for _, name := range pool() {
		for _, space := range []string{"prod", "dev", "test", "empty"} {
			for _, given := range []bool{true, false} {
				f := finderOf(src)
				h, in, err := f.Resolve(t.Context(), which.Place{Namespace: space, Named: given},
					which.Object{Name: name, Kind: which.Any})
				what := fmt.Sprintf("%s in %s, given: %t", name, space, given)
				var all []string
				for _, kinds := range [][]string{{"job", "cronjob"}, {"pod"}} {
					for _, kind := range kinds {
						if len(all) == 0 || kind == "cronjob" {
							if len(having(kind, space, name)) > 0 {
								all = append(all, kind+" "+space)
							}
						}
					}
				}
				if len(all) == 0 && !given {
					all = places(space, name, "job", "cronjob", "pod")
				}
				wrong, unknown := (*which.WrongError)(nil), (*which.UnknownError)(nil)
				switch {
				case name == "deadbeef" && !slices.Contains(all, "job "+space): // it may begin a UID
					if err != nil || h.Kind != which.Job || in.Namespace != space {
						t.Errorf("%s: %s in %s, %v", what, h, in.Namespace, err)
					}
				case len(all) == 0:
					if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "no Job, CronJob or pod") {
						t.Errorf("%s: %s in %s, %v", what, h, in.Namespace, err)
					}
				case len(all) > 1:
					if !errors.As(err, &wrong) {
						t.Errorf("%s: %s in %s, %v", what, h, in.Namespace, err)
					}
				default:
					kind, there, _ := strings.Cut(all[0], " ")
					if err != nil || words[h.Kind] != kind || in.Namespace != there || h.Name != name ||
						(len(f.notes) == 1) != (there != space) || !in.Named && there != space {
						t.Errorf("%s: %s in %s, %q, %v, want %s", what, h, in.Namespace, f.notes, err, all[0])
					}
				}
			}
		}
	}
}
