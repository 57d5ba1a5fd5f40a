package joblog

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// Config says how busy the simulated cluster is, and how long its log.
type Config struct {
	Seed     uint64
	Records  int // number of records to write, at least
	Running  int // number of Jobs that run at the same time
	Finished int // finished Jobs that are not deleted yet
	Waiting  int // number of Jobs with one pod that runs beyond the end of the log, with a deadline after that end
	Parked   int // number of Jobs that stay suspended
	Restate  int // how many bytes of stored states a turn may add to a new file; 0 for the loop's default
	// how many of 1,000 Jobs run a single pod; a tenth of these pods fails for good. 0 for the usual shapes
	Single int

	// Now returns the time of the next turn, for a log that is written in real time. If nil, the clock advances by some
	// milliseconds with each turn, and nothing waits.
	Now func() events.Time

	// Between is called between two turns of the loop, when all appended records are durable. An error from it ends the
	// writing. May be nil.
	Between func(now events.Time, l *loop.Loop) error
}

// Busy returns the Config of a cluster that runs 64 Jobs at a time, with a log of records records.
func Busy(records int) Config { return Config{Seed: 1, Records: records, Running: 64, Finished: 40} }

// perTurn limits how many things happen in the cluster between two turns of the loop.
const perTurn = 48

// Write appends records to an empty log. It returns the loop that wrote them.
func Write(log store.Log, cfg Config) (*loop.Loop, error) {
	c := &cluster{
		cfg: cfg, log: log, rng: rand.New(rand.NewPCG(cfg.Seed, 0)), version: 100, jobs: map[types.UID]*job{},
		now: events.At(time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)),
	}
	if cfg.Now != nil {
		c.now = cfg.Now()
	}
	c.loop = loop.New(loop.Config{
		Log: log, World: projector.NewWorld(), Settings: events.DefaultSettings(), Program: "v0.0.0-bench", ZoneData: "2026a",
		Salt: c.salt, RestateBytes: cfg.Restate,
	})
	if err := c.loop.Start(c.now); err != nil {
		return nil, err
	}
	for _, r := range []events.Resource{events.Jobs, events.Pods} {
		c.see(events.Observation{Facts: &events.Synced{Resources: []events.Resource{r}, Versions: []uint64{c.version}}})
	}
	for range cfg.Waiting {
		c.wait()
	}
	for range cfg.Parked {
		c.park()
	}
	for c.loop.World().Head < events.Sequence(cfg.Records) {
		if err := c.turn(); err != nil {
			return nil, err
		}
		if cfg.Between != nil {
			if err := cfg.Between(c.now, c.loop); err != nil {
				return nil, err
			}
		}
		c.happen()
	}
	return c.loop, nil
}

// cluster is the simulated cluster that the loop sees.
type cluster struct {
	cfg     Config
	log     store.Log
	loop    *loop.Loop
	rng     *rand.Rand
	now     events.Time
	version uint64
	jobs    map[types.UID]*job
	over    []*job        // finished Jobs, the oldest first
	alive   []*pod        // pods that have not ended
	asked   []events.Task // commands that were not answered yet
	inputs  []loop.Input
	made    int // number of Jobs so far
	active  int
}

type job struct {
	ref   events.JobRef
	seen  events.JobSeen
	spec  *events.JobSpec
	shape shape
	pods  []*pod
	over  bool
}

type pod struct {
	job  *job
	name string
	node string
	seen events.PodSeen
	gone bool
}

func (c *cluster) salt() (s events.Salt) {
	binary.LittleEndian.PutUint64(s[:8], c.rng.Uint64())
	binary.LittleEndian.PutUint64(s[8:], c.rng.Uint64())
	return s
}

func (c *cluster) uid() types.UID {
	s := c.salt()
	return types.UID(fmt.Sprintf("%x-%x-4%03x-8%03x-%x", s[:4], s[4:6], s[6], s[7], s[8:14]))
}

func (c *cluster) next() uint64 {
	c.version += 1 + c.rng.Uint64N(5) // skip some versions, because other clients write, too
	return c.version
}

func (c *cluster) see(o events.Observation) {
	c.inputs = append(c.inputs, loop.Input{Observation: &o})
}

// turn makes a turn of the loop with the events so far, and takes its commands when they are durable.
func (c *cluster) turn() error {
	c.now = c.later()
	for inputs := c.inputs; ; {
		n, err := c.loop.Turn(c.now, inputs)
		if err != nil {
			return err
		}
		if inputs = inputs[n:]; len(inputs) == 0 {
			break
		}
	}
	c.inputs = nil
	head := c.loop.World().Head
	for c.log.Head().Sequence < head {
		if _, err := c.log.Wait(context.Background(), head-1); err != nil {
			return err
		}
	}
	tasks, _ := c.loop.Durable(head)
	c.asked = append(c.asked, tasks...)
	return nil
}

// later returns the time of the next turn of the loop: the clock's time if the test has set one, which never goes
// back.
func (c *cluster) later() events.Time {
	if c.cfg.Now != nil {
		return max(c.now, c.cfg.Now())
	}
	return c.now.Add(time.Duration(1+c.rng.IntN(60)) * time.Millisecond)
}

// happen makes the events between two turns of the loop: new Jobs, answers to commands, progress of pods.
func (c *cluster) happen() {
	for c.active < c.cfg.Running {
		c.create()
	}
	for len(c.over) > c.cfg.Finished {
		c.delete(c.over[0])
		c.over = c.over[1:]
	}
	for range 1 + c.rng.IntN(perTurn) {
		switch n := c.rng.IntN(len(c.asked) + len(c.alive) + 1); {
		case n < len(c.asked):
			c.answer(pluck(&c.asked, n))
		case n < len(c.asked)+len(c.alive):
			c.goOn(n - len(c.asked))
		}
	}
	if c.cfg.Now == nil && len(c.asked) == 0 && len(c.alive) == 0 {
		if wake := c.loop.Wake(); wake > c.now {
			c.now = wake // advance to the time at which the loop wants to wake, because nothing else can happen before
		}
	}
}

func pluck[T any](from *[]T, i int) T {
	s := *from
	x := s[i]
	s[i] = s[len(s)-1]
	*from = s[:len(s)-1]
	return x
}

// goOn moves a pod to the next state of its life: scheduled, running, ended.
func (c *cluster) goOn(i int) {
	p := c.alive[i]
	if p.gone {
		pluck(&c.alive, i)
		return
	}
	switch {
	case !p.seen.Scheduled:
		p.seen.Scheduled, p.node = true, fmt.Sprintf("node-%03d.example.internal", c.rng.IntN(200))
	case p.seen.Phase == events.PodPending:
		p.seen.Phase, p.seen.Ready, p.seen.ReadySince = events.PodRunning, true, c.now.Second()
		if p.job.shape.endless {
			pluck(&c.alive, i)
		}
	default:
		pluck(&c.alive, i)
		p.seen.Ready, p.seen.ReadySince, p.seen.Finished = false, 0, c.now.Second()
		if c.rng.Float64() >= p.job.shape.failures {
			p.seen.Phase = events.PodSucceeded
			break
		}
		p.seen.Phase, p.seen.Exits = events.PodFailed, []events.ContainerExit{{Name: "main", Code: 1}}
		c.show(p, events.ContainerEnd{Name: "main", ExitCode: 1, Reason: "Error", Message: "cannot reach the database: connection refused"})
		return
	}
	c.show(p)
}

// show sends the loop a watch event with the present state of a pod, as a new version. ends are the containers that
// have ended.
func (c *cluster) show(p *pod, ends ...events.ContainerEnd) {
	p.seen.Version = c.next()
	seen := p.seen
	c.see(events.Observation{Job: p.job.ref, Facts: &seen, Evidence: events.Evidence{
		Namespace: p.job.ref.Namespace, Name: p.name, Node: p.node, Containers: ends,
	}})
}
