package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// unbegun is how long a Job may wait for its controller before that is told: a running one begins it within a second.
const unbegun = time.Minute

// census is who runs which Jobs, as far as their objects tell.
type census struct {
	ours, builtin, others int
	scheduling            int               // of ours that have not ended, how many have a spec.scheduling
	foreign               string            // a controller that is neither, by its name
	waiting               map[string]int    // how many wait for a controller to begin them, by its name
	example               map[string]string // one of them
	newest                time.Time         // time in a status that the built-in controller says it wrote
	more                  bool              // there are Jobs that were not looked at
}

const builtinName = "the built-in controller"

// jobs counts who runs the Jobs now, and finds those that no controller begins.
func jobs(ctx context.Context, c *Config) []Finding {
	all, err := count(ctx, c)
	if err != nil {
		return []Finding{cannotList("Jobs", err)}
	}
	found := noNamespace(ctx, c)
	found = append(found, all.unbegun()...)
	found = append(found, all.unasked(c)...)
	builtinWorks := c.Settings.Mode == events.ModeAll && c.byAnother(ctx, all.newest)
	switch {
	case builtinWorks:
		found = append(found, Finding{
			Level: Problem, Text: fmt.Sprintf("the built-in controller runs Jobs: it wrote a status %s ago", c.Now().Sub(all.newest).Round(time.Second)),
			Do: "switch it off before --manage=all (kube-controller-manager --controllers=*,-job-controller), or run --manage=delegated",
		})
	case c.Settings.Mode == events.ModeDelegated && all.ours == 0:
		found = append(found, Finding{
			Level: Note, Text: fmt.Sprintf("no Job is for us yet: none has managedBy %s", events.ManagedBy),
			Do: "set spec.managedBy of new Jobs; the field of a Job that exists cannot be changed",
		})
	}
	text := fmt.Sprintf("%s of ours, %s for the built-in controller, %s for others", many(all.ours, "Job", "Jobs"), many(all.builtin, "Job", "Jobs"), many(all.others, "Job", "Jobs"))
	if all.foreign != "" {
		text += " (such as " + all.foreign + ")"
	}
	if all.more {
		text = fmt.Sprintf("of the first %d Jobs: ", pages*pageSize) + text
	}
	return append([]Finding{{Level: OK, Text: text}}, found...)
}

// mostWaited is how many controllers are named that Jobs wait for. Users choose the names.
const mostWaited = 5

// unbegun finds Jobs that nobody begins. That others' controllers do not run is no matter of ours, and anybody who may
// make Jobs can invent one: a warning.
func (all *census) unbegun() (found []Finding) {
	names := slices.SortedFunc(maps.Keys(all.waiting), func(a, b string) int {
		return cmp.Or(-cmp.Compare(all.waiting[a], all.waiting[b]), cmp.Compare(a, b))
	})
	others, more := 0, 0
	for _, name := range names {
		n := all.waiting[name]
		f := Finding{
			Level: Warning, Do: "see whether that controller runs; a Job whose managedBy names one that does not exist never begins",
			Text: fmt.Sprintf("%s waited for %s for more than %s, and nothing has begun (%s)", many(n, "Job has", "Jobs have"), name, unbegun, all.example[name]),
		}
		switch name {
		case builtinName:
			f.Level = Problem
		case events.ManagedBy:
			f.Do = "start jobledger run with --manage=delegated or --manage=all"
		default:
			if others++; others > mostWaited {
				more += n
				continue
			}
		}
		found = append(found, f)
	}
	if more > 0 {
		found = append(found, Finding{
			Level: Warning, Do: "look at spec.managedBy of the Jobs that do not begin",
			Text: fmt.Sprintf("%s waited for other controllers", many(more, "Job more has", "Jobs more have")),
		})
	}
	return found
}

// noNamespace finds that the namespace of the settings does not exist: then there are no Jobs, and nothing else is
// wrong. Who may not look is not told.
func noNamespace(ctx context.Context, c *Config) []Finding {
	if c.Settings.Namespace == "" {
		return nil
	}
	_, err := c.Client.CoreV1().Namespaces().Get(ctx, c.Settings.Namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return nil
	}
	return []Finding{{
		Level: Problem, Text: fmt.Sprintf("there is no namespace %s", c.Settings.Namespace),
		Do: "look at -n: the namespace whose Jobs the controller runs must exist",
	}}
}

func count(ctx context.Context, c *Config) (*census, error) {
	all := &census{waiting: map[string]int{}, example: map[string]string{}}
	next := ""
	for range pages {
		list, err := c.Client.BatchV1().Jobs(c.Settings.Namespace).List(ctx, page(next))
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			all.add(&list.Items[i], c.Now())
			if asksInVain(&list.Items[i], c) {
				all.scheduling++
			}
		}
		if next = list.Continue; next == "" {
			return all, nil
		}
	}
	all.more = true
	return all, nil
}

func (all *census) add(j *batchv1.Job, now time.Time) {
	name := builtinName
	switch by := j.Spec.ManagedBy; {
	case by == nil || *by == batchv1.JobControllerName:
		all.builtin++
	case *by == events.ManagedBy:
		name = events.ManagedBy
		all.ours++
	default:
		name, all.foreign = *by, *by
		all.others++
	}
	if at := statusTime(j, now); byBuiltin(j.ManagedFields) && at.After(all.newest) {
		all.newest = at
	}
	if j.Status.StartTime == nil && len(j.Status.Conditions) == 0 && j.DeletionTimestamp == nil && now.Sub(j.CreationTimestamp.Time) > unbegun {
		all.waiting[name]++
		all.example[name] = j.Namespace + "/" + j.Name
	}
}

// asksInVain reports whether a Job of ours that goes on has a spec.scheduling.
func asksInVain(j *batchv1.Job, c *Config) bool {
	by := ""
	if j.Spec.ManagedBy != nil {
		by = *j.Spec.ManagedBy
	}
	return j.Spec.Scheduling != nil && j.Status.CompletionTime == nil && c.Settings.Mode.Manages(by)
}

// unasked says how many Jobs ask by their spec.scheduling for what is not made.
func (all *census) unasked(c *Config) []Finding {
	if all.scheduling == 0 || gangs(c) || !works(c) {
		return nil
	}
	return []Finding{{
		Level: Warning, Text: fmt.Sprintf("%s of ours with a spec.scheduling, which has no effect: their pods are scheduled one by one",
			many(all.scheduling, "Job", "Jobs")),
		Do: "run with --gang-scheduling=asked, and with the rights of " + gangFile,
	}}
}

// byBuiltin reports whether the newest write of a status was the built-in controller's, by its name. Whoever may change
// the object can write that name, and any time beside it.
func byBuiltin(fields []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(fields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == events.BuiltinManager && f.Subresource == "status"
	})
}

// statusTime is the newest time in the status of a Job that is not to come. Only who may write statuses can write it
// there: a controller, and no tenant.
func statusTime(j *batchv1.Job, now time.Time) (newest time.Time) {
	times := []*metav1.Time{j.Status.StartTime, j.Status.CompletionTime}
	for i := range j.Status.Conditions {
		times = append(times, &j.Status.Conditions[i].LastTransitionTime)
	}
	return newestOf(now, times...)
}

func newestOf(now time.Time, times ...*metav1.Time) (newest time.Time) {
	for _, t := range times {
		if t != nil && t.After(newest) && t.Sub(now) < apart {
			newest = t.Time
		}
	}
	return newest
}

// apart is how far the clocks of two controllers may be from one another.
const apart = time.Minute

// byAnother reports whether a controller wrote a status lately that none of ours can have written: at that time no
// Lease was renewed. While one of ours runs it looks for the built-in controller itself, and says so
// (docs/design/0008-two-controllers.md).
func (c *Config) byAnother(ctx context.Context, at time.Time) bool {
	if c.Now().Sub(at) >= time.Hour {
		return false
	}
	ours, ok := c.newestLease(ctx)
	return ok && at.After(ours.Add(apart))
}

func cannotList(what string, err error) Finding {
	f := Finding{Level: Unknown, Text: fmt.Sprintf("%s cannot be listed: %v", what, err)}
	if apierrors.IsForbidden(err) {
		f.Do = "look as one who may list them, such as an administrator"
	}
	return f
}

func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
