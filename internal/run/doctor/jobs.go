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

// unbegun is how long a Job may wait for its controller before it is reported. A running controller begins a Job within
// a second.
const unbegun = time.Minute

// census counts which controllers run which Jobs, as far as the Job objects show it.
type census struct {
	ours, builtin, others int
	scheduling            int               // unfinished Jobs of ours that set spec.scheduling
	foreign               string            // name of a controller that is neither ours nor the built-in one
	waiting               map[string]int    // by controller: number of Jobs that wait for it to begin them
	example               map[string]string // by controller: one of these Jobs
	newest                time.Time         // newest time in a status written under the built-in controller's name
	more                  bool              // there are more Jobs, which were not read
}

const builtinName = "the built-in controller"

// jobs counts the Jobs by their controllers, and finds Jobs that no controller starts.
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

// mostWaited is the largest number of controllers, other than ours and the built-in one, that the report names. Users
// choose these names.
const mostWaited = 5

// unbegun returns findings about Jobs that no controller begins. For Jobs of other controllers it only warns: they do
// not concern us, and any user who may create Jobs can name a controller that does not exist.
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

// noNamespace reports that the namespace of the settings does not exist. Without this finding, all would seem well,
// because such a namespace has no Jobs. It reports nothing without the right to look.
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

// asksInVain reports whether the Job is ours and unfinished, and asks for a gang in spec.scheduling. The caller decides
// whether that field has an effect.
func asksInVain(j *batchv1.Job, c *Config) bool {
	by := ""
	if j.Spec.ManagedBy != nil {
		by = *j.Spec.ManagedBy
	}
	return j.Spec.Scheduling != nil && j.Status.CompletionTime == nil && c.Settings.Mode.Manages(by)
}

// unasked reports how many Jobs ask for a gang in spec.scheduling although gangs are switched off.
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

// byBuiltin reports whether a status was written under the field manager of the built-in controller. Any user who may
// change the object can use that name, so the answer is no proof.
func byBuiltin(fields []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(fields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == events.BuiltinManager && f.Subresource == "status"
	})
}

// statusTime returns the newest time in a Job's status that is not in the future. Only users with the right to write
// statuses can set these times, which tenants do not have.
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

// apart is the assumed largest difference between the clocks of two controllers.
const apart = time.Minute

// byAnother reports whether a controller other than ours wrote a status at the given time, in the last hour. It
// concludes this if no controller of ours renewed its Lease at that time. A running controller of ours looks for the
// built-in controller itself, and reports it (docs/design/0008-two-controllers.md).
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
