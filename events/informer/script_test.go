package informer

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// recorder is a sink that writes down what it gets. It blocks only on demand.
type recorder struct {
	t    *testing.T
	mu   sync.Mutex
	told []events.Observation
	gate chan struct{} // when set, the sink is busy until it is closed
	kept map[types.UID]bool
	idle bool     // commands are not carried out, so no objects need be kept
	log  []string // of the keeper
}

func (r *recorder) Observe(o events.Observation) {
	if r.gate != nil {
		<-r.gate
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if seen, ok := o.Facts.(*events.JobSeen); ok && seen.Managed && !finishedStatus(seen.Status) && !r.kept[o.Job.UID] && !r.idle {
		r.t.Errorf("%s was told before the keeper had it", line(o))
	}
	r.told = append(r.told, o)
}

func finishedStatus(s *events.JobStatus) bool {
	for _, c := range s.Conditions {
		if (c.Type == "Complete" || c.Type == "Failed") && c.Status == "True" {
			return true
		}
	}
	return false
}

func (r *recorder) KeepJob(job *kubewire.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept[job.UID] = true
	r.log = append(r.log, "keep "+job.Name)
}

func (r *recorder) KeepCronJob(cronJob *kubewire.CronJob) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, "keep "+cronJob.Name)
}

func (r *recorder) DropCronJob(uid types.UID) { r.DropJob(uid) }

func (r *recorder) DropJob(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, "drop "+string(uid))
}

func (r *recorder) Reset(life events.Identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.kept)
	r.log = append(r.log, fmt.Sprintf("reset to epoch %d", life.Epoch))
}

// take returns the observations since its last call, one line for each.
func (r *recorder) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, o := range r.told {
		lines = append(lines, line(o))
	}
	r.told = nil
	return lines
}

// line writes an observation in the form of the tests.
func line(o events.Observation) string {
	switch f := o.Facts.(type) {
	case *events.JobSeen:
		s := fmt.Sprintf("job %s v%d", o.Job.Name, f.Version)
		if !f.Managed {
			s += " unmanaged"
		}
		if o.CronJob != "" {
			s += " of " + string(o.CronJob)
		}
		return s
	case *events.JobGone:
		return fmt.Sprintf("job %s gone v%d%s", o.Job.Name, f.Version, missedText(f.Missed))
	case *events.PodSeen:
		s := fmt.Sprintf("pod %s v%d", o.Evidence.Name, f.Version)
		if o.Job.Name != "" {
			s += " of " + o.Job.Name
		}
		if f.Phase.Terminal() {
			s += " " + f.Phase.String()
		}
		for _, flag := range []struct {
			on   bool
			text string
		}{{f.Tracked, "tracked"}, {f.Selected, "selected"}, {f.Foreign, "foreign"}} {
			if flag.on {
				s += " " + flag.text
			}
		}
		if len(f.Candidates) > 0 {
			s += fmt.Sprintf(" candidates=%v", f.Candidates)
		}
		return s
	case *events.PodGone:
		s := fmt.Sprintf("pod %s gone v%d%s", f.UID, f.Version, missedText(f.Missed))
		if o.Job.Name != "" {
			s += " of " + o.Job.Name
		}
		return s
	case *events.CronJobSeen:
		return fmt.Sprintf("cronjob %s v%d %s", o.Job.Name, f.Version, f.Schedule)
	case *events.CronJobGone:
		return fmt.Sprintf("cronjob %s gone v%d%s", o.Job.Name, f.Version, missedText(f.Missed))
	case *events.RunSeen:
		return fmt.Sprintf("run %s v%d of %s", f.Name, f.Version, o.CronJob)
	case *events.RunGone:
		return fmt.Sprintf("run %s gone v%d of %s%s%s", f.Job, f.Version, o.CronJob, missedText(f.Missed), map[bool]string{true: " left"}[f.Left])
	case *events.ListingStarted:
		return fmt.Sprintf("listing %v: %s, seen %v", f.Resources, f.Reason, f.LastVersions)
	case *events.EpochChanged:
		return fmt.Sprintf("epoch %d: %+v", f.Epoch, f.Rewind)
	case *events.Synced:
		return fmt.Sprintf("synced %v at %v", f.Resources, f.Versions)
	}
	return fmt.Sprintf("%T", o.Facts)
}

func missedText(missed bool) string {
	if missed {
		return " missed"
	}
	return ""
}

// bubble runs a test against a cluster in virtual time. start begins the informer, and the bubble's end stops it.
func bubble(t *testing.T, test func(t *testing.T, c *cluster, start func(change ...func(*Config)) (*Informer, *recorder))) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		test(t, c, func(change ...func(*Config)) (*Informer, *recorder) { return startInformer(t, c.client(), change...) })
	})
}

func startInformer(t *testing.T, client kubernetes.Interface, change ...func(*Config)) (*Informer, *recorder) {
	t.Helper()
	r := &recorder{t: t, kept: map[types.UID]bool{}}
	config := Config{
		Client: client, Mode: events.ModeDelegated, Identity: testIdentity, Key: testKey, Sink: r, Keeper: r,
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, ch := range change {
		ch(&config)
	}
	i, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	runInformer(t, i)
	return i, r
}

// runInformer runs it until the bubble ends.
func runInformer(t *testing.T, i *Informer) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- i.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil && !strings.Contains(err.Error(), "relied on") {
			t.Errorf("Run: %v", err)
		}
	})
	synctest.Wait()
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("told:\n%s\nwant:\n%s", g, w)
	}
}
