package explain_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhatJobledgerDidLate: from a record of a Job on, all that the log tells happens 26 s later, as when Jobledger was
// away or stood still before it: what the Job's objects say of times before that stays. The answer says what came late,
// and why, as far as that is recorded.
func TestWhatJobledgerDidLate(t *testing.T) {
	const orders, daily = "backoff-limit/etl-orders", "deadline/report-daily"
	added := func(r *events.Record) bool { return r.Kind == events.KindJobAdded }
	failed := func(r *events.Record) bool {
		f, is := r.Facts.(*events.PodSeen)
		return is && f.Phase == events.PodFailed
	}
	for _, row := range []struct {
		name string
		job  string
		from func(*events.Record) bool // the first record that comes late
		how  func(*lateLog)
		says string
	}{
		{"it stood still before it saw the Job", orders, added, (*lateLog).stoodStill,
			"the Job was seen 26.1s after it was created (by the API server's clock): Jobledger recorded nothing from 22:06:47 to 22:07:13: it stood still, or the API server told it nothing"},
		{"it stood still when a pod ended", orders, failed, (*lateLog).stoodStill,
			"the end of etl-orders-7bkh5 was seen 26.1s after it ended (by its node's clock): Jobledger recorded nothing from 22:06:48 to 22:07:15: it stood still"},
		{"it was away when a pod ended", orders, failed, (*lateLog).away,
			"the end of etl-orders-7bkh5 was seen 26.1s after it ended (by its node's clock): no Jobledger watched from 22:06:49 to 22:07:15"},
		{"its watch was cut when a pod ended", orders, failed, (*lateLog).cut, "Jobledger's watch of the cluster was cut from 22:06:49 to 22:07:15"},
		{"the log was full when a pod ended", orders, failed, (*lateLog).full, "the log had no room, so that nothing was recorded, from 22:06:49 to 22:07:15"},
		{"it stood still when a backoff was over", orders, create(2), (*lateLog).stoodStill,
			"the next pod was asked for 26s after it could be (the one of before had ended, and its backoff was over): Jobledger stood still from 22:06:58 to 22:07:25, and recorded nothing"},
		{"it stood still when the deadline passed", daily, deadline, (*lateLog).stoodStill,
			"the deadline was acted on 26s after it had passed: Jobledger stood still from 22:06:54 to 22:07:21, and recorded nothing"},
		{"it was behind when the deadline passed", daily, deadline, (*lateLog).behind,
			"the deadline was acted on 26s after it had passed: Jobledger was behind: it recorded other things meanwhile"},

		{"nine seconds are not told", daily, deadline, func(l *lateLog) { l.by = 9 * time.Second; l.stoodStill() }, ""},
		{"other clocks prove nothing: the API server's", orders, added, func(l *lateLog) { l.skew = 40 * time.Second; l.stoodStill() }, ""},
		{"a pod that a busy Jobledger heard of late may have been told late", orders, failed, (*lateLog).behind, ""},
		{"a backoff while a busy Jobledger ran", orders, create(2), (*lateLog).behind, ""},
		{"its clock was set", daily, deadline, (*lateLog).step,
			"Jobledger's clock went 26s forward (the machine slept, or the clock was set): times of before and behind it are not of one clock"},
		{"another controller's Job that was seen late: that did not hold it up", "observed:" + orders, added, (*lateLog).stoodStill, ""},
		{"another controller's deadline", "observed:" + daily, saysFailing, (*lateLog).stoodStill, ""},
		{"the end of another controller's pod", "observed:" + orders, failed, (*lateLog).stoodStill,
			"the end of etl-orders-m2ctg was seen 26.4s after it ended (by its node's clock): Jobledger recorded nothing from "},
		{"as it was", orders, added, func(*lateLog) {}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			mode, name, observed := strings.Cut(row.job, ":")
			if !observed {
				mode, name = "delegated", row.job
			}
			l := newLateLog(t, mode, name, row.from)
			row.how(l)
			c, err := job.Read(t.Context(), l, l.stream, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			a := c.Answer()
			var said []string
			for _, s := range a.Sections {
				for _, x := range s.Sentences {
					if s.Head != "TIME" || !strings.Contains(x.Text, "Jobledger") && !strings.Contains(x.Text, "had no room") {
						continue
					}
					if said = append(said, x.Text); len(x.Records) == 0 {
						t.Errorf("%q cites no record", x.Text)
					}
				}
			}
			if pod, _, is := strings.Cut(strings.TrimPrefix(row.says, "the end of "), " was seen"); is && strings.HasPrefix(row.says, "the end of") {
				if of, err := c.PodAnswer(pod); err != nil || !strings.Contains(texts(&of), row.says) {
					t.Errorf("of the pod it says %q (%v), not %q", texts(&of), err, row.says)
				}
			}
			if text := strings.Join(said, "\n"); !strings.Contains(text, row.says) || row.says == "" && len(said) > 0 || len(said) > 1 {
				t.Errorf("it says %q, not %q", text, row.says)
			}
		})
	}
}

// deadline is the decision that a Job fails by its deadline, with the timer before it.
func deadline(r *events.Record) bool {
	return r.Kind == events.KindTimerFired && r.Time.Go().Second() >= 55
}

// texts are all that an answer says, a line each.
func texts(a *explain.Answer) string {
	var out []string
	for _, x := range all(a) {
		out = append(out, x.Text)
	}
	return strings.Join(out, "\n")
}

// saysFailing is the first sight of a Job's status that says how it fails.
func saysFailing(r *events.Record) bool {
	f, is := r.Facts.(*events.JobSeen)
	return is && f.Status != nil && len(f.Status.Conditions) > 0
}

// create is the timer before the decision that makes the n-th pod.
func create(n uint64) func(*events.Record) bool {
	return func(r *events.Record) bool {
		return r.Kind == events.KindTimerFired && n == 2 && r.Time.Go().Second() == 59
	}
}

// lateLog is the log of an incident, from a record of a Job on late.
type lateLog struct {
	*recorded
	stream events.Stream
	at     int // of records: the first that is late
	by     time.Duration
	skew   time.Duration // of the API server's clock, which is behind
}

func newLateLog(t *testing.T, mode, job string, from func(*events.Record) bool) *lateLog {
	t.Helper()
	for _, dir := range logs(t) {
		if strings.HasSuffix(dir, "/"+mode) {
			l := &lateLog{recorded: openRecorded(t, dir), by: 26 * time.Second}
			l.stream = l.job(t, job)
			if l.at = slices.IndexFunc(l.records, func(r events.Record) bool { return r.Stream == l.stream && from(&r) }); l.at < 0 {
				t.Fatalf("%s has no such record", job)
			}
			return l
		}
	}
	t.Fatal("no log")
	return nil
}

// Records gives single records as they are here.
func (l *lateLog) Records(_ context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for _, r := range l.records {
			if r.Sequence >= q.From {
				yield(r, nil)
				return
			}
		}
	}
}

// later makes a record one of so much later. What it says of times before the first late one stays.
func (l *lateLog) later(r *events.Record, from events.Time) {
	shift := func(t *events.Time) {
		if *t >= from {
			*t = t.Add(l.by)
		}
		if *t != 0 {
			*t = t.Add(-l.skew)
		}
	}
	switch f := r.Facts.(type) {
	case *events.PodSeen:
		seen := *f
		shift(&seen.Created)
		shift(&seen.Finished)
		r.Facts = &seen
	case *events.JobSeen:
		seen := *f
		shift(&seen.Created)
		r.Facts = &seen
	}
	r.Evidence.Containers = slices.Clone(r.Evidence.Containers)
	for i := range r.Evidence.Containers {
		shift(&r.Evidence.Containers[i].Started)
		shift(&r.Evidence.Containers[i].Finished)
	}
	shift(&r.Evidence.Running)
	r.Time = r.Time.Add(l.by)
}

func (l *lateLog) stoodStill() { l.lateFrom(l.records[l.at].Time) }

func (l *lateLog) lateFrom(from events.Time) {
	for i := range l.records[l.at:] {
		l.later(&l.records[l.at+i], from)
	}
}

// behind is late though a record of another Job was made meanwhile.
func (l *lateLog) behind() {
	from := l.records[l.at].Time
	l.stoodStill()
	l.records[l.other(l.at, -1)].Time = from.Add(l.by - 6*time.Second)
}

func (l *lateLog) away() { l.listed(events.ListingStart) }
func (l *lateLog) cut()  { l.listed(events.ListingRelisted) }
func (l *lateLog) full() { l.listed(events.ListingGap) }

// listed is late with a gap: of other records beside the first late one it makes those of a listing of pods.
func (l *lateLog) listed(why events.ListingReason) {
	from := l.records[l.at].Time
	l.at = l.other(l.at, -1)
	l.lateFrom(from)
	put := func(i int, k events.Kind, f events.Facts) {
		r := &l.records[i]
		r.Stream, r.Kind, r.Facts = events.Controller, k, f
	}
	put(l.at, events.KindListingStarted, &events.ListingStarted{Reason: why, Resources: []events.Resource{events.Pods}, LastSeen: from, LastVersions: []uint64{0}})
	put(l.other(l.at+1, 1), events.KindSynced, &events.Synced{Resources: []events.Resource{events.Pods}, Versions: []uint64{0}})
}

// other is the next record of another Job in a direction.
func (l *lateLog) other(i, dir int) int {
	for ; l.records[i].Stream == l.stream || l.records[i].Stream.Kind != events.StreamJob; i += dir {
	}
	return i
}

// step makes what is late so because the clock was set.
func (l *lateLog) step() {
	from := l.records[l.at].Time
	l.at = l.other(l.at, -1)
	l.lateFrom(from)
	r := &l.records[l.at]
	r.Stream, r.Kind, r.Facts = events.Controller, events.KindClockStepped, &events.ClockStepped{Step: l.by}
}

// TestADeadlineThatPassedWhileJobledgerStoodStill: the verdict of a Job that has no pod when its deadline passes says
// why it has none: here nothing is recorded from behind its first status on. Where a pod ran, or other records were
// made, it does not say so.
func TestADeadlineThatPassedWhileJobledgerStoodStill(t *testing.T) {
	const why = " while no pod ran, as Jobledger stood still from 22:06:48 to 22:07:21, and recorded nothing"
	for _, row := range []struct {
		name         string
		pods, others bool
		says         string
	}{
		{"no pod was made", false, false, why},
		{"other records were made", false, true, ""},
		{"a pod ran", true, false, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLateLog(t, "delegated", "deadline/report-daily", deadline)
			l.stoodStill()
			l.onePodWithout(row.pods, row.others)
			c, err := job.Read(t.Context(), l, l.stream, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			v := c.Answer().Verdict
			if says := "activeDeadlineSeconds 8 passed" + row.says; !strings.Contains(v.Text, says) || row.says == "" && strings.Contains(v.Text, "no pod ran") {
				t.Errorf("%q, not %q", v.Text, says)
			}
		})
	}
}

// onePodWithout makes report-daily a Job that wants one pod, and leaves out what tells of its pods, if so, and when
// others' records were made.
func (l *lateLog) onePodWithout(pods, others bool) {
	l.without = map[events.Sequence]bool{}
	late, started, began := l.records[l.at].Sequence, events.Time(0), false
	for i := range l.records {
		r := &l.records[i]
		ours := r.Stream == l.stream
		if f, is := r.Facts.(*events.JobSpec); is && ours {
			one, n := *f, int32(1)
			one.Parallelism, one.Completions = &n, &n
			r.Facts = &one
		}
		pod := r.Kind == events.KindPodAdded || r.Kind == events.KindPodChanged || r.Kind == events.KindPodDeleted || r.Kind == events.KindCommandEnded && r.Evidence.Name != ""
		counts := r.Sequence == 870 || r.Sequence > 871 && r.Sequence < 966 // pods are stopped at the deadline, and counted
		creates := r.Kind == events.KindDecided && r.Sequence < 100
		l.without[r.Sequence] = ours && (pod && (!pods || r.Sequence > late) || creates && !pods || counts)
		if ours && r.Kind == events.KindJobChanged && !began {
			started, began = r.Time, true // its status has the time of its start
		}
		if began && r.Sequence < late && !others {
			r.Time = started
		}
	}
}
