package failures

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Cause is a group of Jobs that are in trouble for the same cause. Its JSON changes only by adding fields.
type Cause struct {
	Sort  string             `json:"sort"`
	Jobs  int                `json:"jobs"`
	First recordjson.Instant `json:"first"` // when the first Job of the group got into trouble
	Last  recordjson.Instant `json:"last"`
	Works []Work             `json:"works"` // recurring work of the Jobs, the newest trouble first
	Item  int                `json:"item"`  // index in Failures.Items of the group's first item; its others follow

	// Why is set if one node was the cause for Jobs with different reasons: it says what happened to the node.
	Why string `json:"why,omitempty"`
}

// Work is recurring work: the Jobs of a CronJob, of a generateName, or of one name. Its JSON changes only by adding
// fields.
type Work struct {
	Namespace string `json:"namespace"`
	// Name is the name of the owner. If nothing owns the Jobs, or there is only one, it is the name of the newest Job.
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"` // kind of the owner, such as CronJob; empty for none
	Jobs int    `json:"jobs"`
}

// sorted returns the list with its items in order: stuck, failed, deleted, survived. Within each sort, items with the
// same cause stand together, and among them the runs of the same work; the newest come first. It also sets Causes, and
// Also of each item.
func (f *finding) sorted() Failures {
	order := map[string]int{SortStuck: 0, SortFailed: 1, SortDeleted: 2, SortSurvived: 3}
	alike, newest := map[string]int{}, map[string]recordjson.Instant{}
	cause := func(t *Trouble) string { return t.Sort + " " + t.Kind + " " + t.Cause }
	line := func(t *Trouble) string { return cause(t) + "\n" + t.same }
	work := func(t *Trouble) string { return line(t) + "\n" + t.Work }
	levels := []func(*Trouble) string{cause, line, work}
	for i := range f.Items {
		t := &f.Items[i]
		alike[cause(t)]++
		for level, of := range levels {
			key := strconv.Itoa(level) + of(t)
			newest[key] = max(newest[key], t.Since)
		}
	}
	slices.SortStableFunc(f.Items, func(a, b Trouble) int {
		c := cmp.Compare(order[a.Sort], order[b.Sort])
		for level, of := range levels {
			n := strconv.Itoa(level)
			c = cmp.Or(c, cmp.Compare(newest[n+of(&b)], newest[n+of(&a)]), cmp.Compare(of(&a), of(&b)))
		}
		return cmp.Or(c, cmp.Compare(b.Since, a.Since))
	})
	for i := range f.Items {
		t := &f.Items[i]
		t.Also = alike[cause(t)] - 1
		if i == 0 || line(t) != line(&f.Items[i-1]) {
			f.Causes = append(f.Causes, Cause{Sort: t.Sort, First: t.Since, Last: t.Since, Item: i})
		}
		x := &f.Causes[len(f.Causes)-1]
		x.Jobs++
		x.First, x.Last = min(x.First, t.Since), max(x.Last, t.Since)
		if x.Jobs > 1 && t.ofNode != "" {
			x.Why = t.ofNode
		}
		if x.Jobs == 1 || work(t) != work(&f.Items[i-1]) {
			x.Works = append(x.Works, Work{Namespace: t.Namespace, Name: t.Name})
			if t.Kind == kindCronJob {
				x.Works[len(x.Works)-1].Kind = kindCronJob
			}
		}
		w := &x.Works[len(x.Works)-1]
		if w.Jobs++; w.Jobs == 2 {
			w.of(t)
		}
	}
	return f.Failures
}

// of gives w the kind and the name of the owner of Job t, if t belongs to an owner such as a CronJob.
func (w *Work) of(t *Trouble) {
	if kind, name, is := strings.Cut(t.Lineage, " "); is {
		w.Kind, w.Name = kind, name
	}
}
