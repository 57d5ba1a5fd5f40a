package executor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
)

// script drives the step machine without an API: tasks have names, and calls end when the test says so.
type script struct {
	*testing.T
	e     *Executor
	now   events.Time
	names map[events.CommandID]string
	tasks []events.Task
	out   map[string]*Call
}

func newScript(t *testing.T) *script {
	t.Helper()
	e, err := New(Config{API: wholeapi.Of((*apiserver.Client)(nil)), Objects: NewObjects(hashOf), Mode: events.ModeAll})
	if err != nil {
		t.Fatal(err)
	}
	return &script{T: t, e: e, now: events.At(epoch), names: map[events.CommandID]string{}, out: map[string]*Call{}}
}

// submit adds a deletion of that pod of that Job, under the task name "job/pod".
func (s *script) submit(job, pod string, p events.Priority) events.CommandID {
	return s.submitAs(job, pod, p, false)
}

// submitAs adds a deletion, or the removal of a finalizer.
func (s *script) submitAs(job, pod string, p events.Priority, drops bool) events.CommandID {
	task := events.Task{
		Name: events.CommandID{Decided: events.Sequence(len(s.names) + 1)}, Stream: events.JobStream(types.UID(job)),
		Job:     events.JobRef{Namespace: "default", Name: job, UID: types.UID(job)},
		Command: &events.DeletePod{Pod: types.UID(pod)}, Pod: events.PodRef{Name: job + "-" + pod, UID: types.UID(pod)},
	}
	if drops {
		task.Command = &events.DropFinalizer{Pod: types.UID(pod)}
	}
	s.names[task.Name] = job + "/" + pod
	s.tasks = append(s.tasks, task)
	it := itemOf(task)
	it.priority = p
	s.e.mu.Lock()
	s.e.submitLocked(it)
	s.e.mu.Unlock()
	s.e.ring()
	return task.Name
}

// takeBack takes back a task that was submitted.
func (s *script) takeBack(name events.CommandID) { s.e.TakeBack(s.tasks[name.Decided-1]) }

// next starts what may be started, and returns the names.
func (s *script) next() []string {
	var started []string
	for {
		call, ok := s.e.Next(s.now)
		if !ok {
			return started
		}
		name := s.names[call.Task.Name]
		if call.Withdrawn {
			name = "withdrawn " + name
		}
		started = append(started, name)
		s.out[name] = call
	}
}

// ends ends calls as done, after a time that does not matter to the test.
func (s *script) ends(names ...string) {
	s.Helper()
	for _, name := range names {
		s.endsAs(name, events.CommandEnded{Ending: events.Done, Sent: true}, time.Millisecond)
	}
}

func (s *script) endsAs(name string, ended events.CommandEnded, after time.Duration) {
	s.Helper()
	call := s.out[name]
	if call == nil {
		s.Fatalf("%s is not in flight", name)
	}
	delete(s.out, name)
	s.now = s.now.Add(after)
	s.e.Done(call, events.TaskResult{Ended: ended}, s.now)
}

func (s *script) wants(got []string, want string) {
	s.Helper()
	if text := strings.Join(got, ", "); text != want {
		s.Errorf("started %q, want %q", text, want)
	}
}

// one lets only one call be in flight, so that the order shows.
func (s *script) one() { s.e.limit.max, s.e.limit.size = 1, 1 }

// drain runs everything one at a time, and returns the order.
func (s *script) drain() []string {
	s.Helper()
	s.one()
	var order []string
	for range 10000 {
		started := s.next()
		if len(started) == 0 {
			break
		}
		order = append(order, started...)
		s.ends(started...)
	}
	if !s.e.Idle() {
		s.Fatal("tasks are left")
	}
	return order
}

func TestJobsTakeTurns(t *testing.T) {
	s := newScript(t)
	for i := range 3 {
		s.submit("big", fmt.Sprint(i), events.PriorityBulk)
	}
	s.submit("small", "0", events.PriorityBulk)
	s.submit("tiny", "0", events.PriorityBulk)
	s.wants(s.drain(), "big/0, small/0, tiny/0, big/1, big/2")
}

func TestNewcomerGoesNextHoweverLongTheBacklog(t *testing.T) {
	s := newScript(t)
	for i := range 500 {
		s.submit("big", fmt.Sprint(i), events.PriorityBulk)
	}
	first := s.next()
	if share := s.e.limit.share(s.now); len(first) != share || share >= s.e.limit.slots(s.now) {
		t.Fatalf("one Job has %d calls in flight, want its share of %d out of %d", len(first), share, s.e.limit.slots(s.now))
	}
	s.submit("small", "0", events.PriorityBulk)
	s.wants(s.next(), "small/0")
}

func TestUrgentGoesFirst(t *testing.T) {
	s := newScript(t)
	s.submit("a", "progress", events.PriorityProgress)
	s.submit("a", "create", events.PriorityBulk)
	s.submit("a", "unblock", events.PriorityUnblock)
	s.submit("a", "finish", events.PriorityFinish)
	s.wants(s.drain(), "a/finish, a/unblock, a/create, a/progress")
}

func TestCreatesOfOneJobAndUnblockingOfAnotherTakeTurns(t *testing.T) {
	s := newScript(t)
	s.submit("a", "create", events.PriorityBulk)
	s.submit("b", "0", events.PriorityUnblock)
	s.submit("b", "1", events.PriorityUnblock)
	s.wants(s.drain(), "a/create, b/0, b/1")
}

func TestLeastUrgentDoesNotStarve(t *testing.T) {
	s := newScript(t)
	for i := range 100 {
		s.submit("a", fmt.Sprint(i), events.PriorityBulk)
		s.submit("b", fmt.Sprint(i), events.PriorityFinish)
	}
	s.submit("c", "progress", events.PriorityProgress)
	const most = 8
	if at := slices.Index(s.drain(), "c/progress"); at > most {
		t.Errorf("progress was written after %d other calls, want at most %d", at, most)
	}
}

func TestWhatADeletionWaitsForGoesFirstOfAll(t *testing.T) {
	s := newScript(t)
	s.submit("a", "create", events.PriorityBulk)
	s.submit("b", "finalizer", events.PriorityEnd)
	s.submit("c", "finish", events.PriorityFinish)
	s.submit("d", "finalizer", events.PriorityDeletion)
	s.wants(s.drain(), "d/finalizer, c/finish, b/finalizer, a/create")
}

// TestDeletionsWithoutEndLeaveRoomForWork: a user deletes the pods of many Jobs. Calls for deletions go first, and the
// pods of other Jobs are made all the same.
func TestDeletionsWithoutEndLeaveRoomForWork(t *testing.T) {
	s := newScript(t)
	for i := range 200 {
		s.submit(fmt.Sprint("deleted-", i), "0", events.PriorityDeletion)
		s.submit(fmt.Sprint("works-", i%5), fmt.Sprint(i/5), events.PriorityBulk)
	}
	made := 0
	for _, name := range s.drain()[:160] {
		if strings.HasPrefix(name, "works") {
			made++
		}
	}
	if made < 60 || made > 80 {
		t.Errorf("of 160 calls %d make pods, want 60 to 80", made)
	}
}

func TestNoTierStarves(t *testing.T) {
	s := newScript(t)
	all := []events.Priority{
		events.PriorityDeletion, events.PriorityFinish, events.PriorityEnd, events.PriorityDue, events.PriorityLeft,
		events.PriorityBulk, events.PriorityProgress,
	}
	for i := range 200 {
		for _, p := range all {
			s.submit(fmt.Sprint(p), fmt.Sprint(i), p)
		}
	}
	s.one()
	seen := map[byte]int{}
	for range 160 {
		for _, name := range s.next() {
			seen[name[0]-'0']++
			s.ends(name)
		}
	}
	if seen[byte(events.PriorityDeletion)] < 80 {
		t.Errorf("of 160 calls %d were those that a deletion waits for, want half at least", seen[byte(events.PriorityDeletion)])
	}
	for _, p := range all {
		if seen[byte(p)] < 10 {
			t.Errorf("of 160 calls %d had priority %d, want 10 at least", seen[byte(p)], p)
		}
	}
}

func TestATaskThatWaitsIsHastened(t *testing.T) {
	s := newScript(t)
	for i := range 3 {
		s.submit("a", fmt.Sprint(i), events.PriorityBulk)
	}
	s.submit("b", "pod", events.PriorityBulk)
	s.submit("b", "pod", events.PriorityBulk) // behind the first
	s.submit("c", "finish", events.PriorityFinish)
	hasten := func(n int, p events.Priority) {
		task := s.tasks[n]
		task.Priority = p
		s.e.Hasten(task)
	}
	hasten(2, events.PriorityEnd)
	hasten(2, events.PriorityDeletion)
	hasten(4, events.PriorityDeletion)
	hasten(5, events.PriorityEnd) // less urgent than it is already
	s.wants(s.drain(), "a/2, c/finish, a/0, b/pod, b/pod, a/1")
	hasten(0, events.PriorityDeletion) // it is over: nothing is sent again
	s.wants(s.drain(), "")
}

func TestCommandsOfOneObjectKeepTheirOrder(t *testing.T) {
	s := newScript(t)
	s.submit("a", "pod", events.PriorityProgress)
	s.submit("a", "pod", events.PriorityFinish)
	s.submit("a", "pod", events.PriorityBulk)
	s.submit("a", "other", events.PriorityBulk)
	s.wants(s.next(), "a/other, a/pod")
	first := s.e.running[s.out["a/pod"].Task.Name]
	if first.priority != events.PriorityProgress {
		t.Errorf("priority %d was sent first, want the one that was submitted first", first.priority)
	}
	s.ends("a/other")
	s.wants(s.next(), "")
	s.ends("a/pod")
	s.wants(s.next(), "a/pod")
	if s.e.running[s.out["a/pod"].Task.Name].priority != events.PriorityFinish {
		t.Error("the second command of the object was overtaken by the third")
	}
	s.ends("a/pod")
	s.wants(s.next(), "a/pod")
}

func TestCreateAndWhatFollowsItAreOfOneObject(t *testing.T) {
	job := events.JobRef{Namespace: "default", Name: "demo", UID: "u"}
	name := identity.PodName("u", "demo-3-", 9)
	create := keyOf(&events.Task{Life: identity, Job: job, Command: &events.CreatePod{Ordinal: 9, Index: 3}})
	for _, task := range []events.Task{
		{Job: job, Command: &events.ReadPod{Ordinal: 9, Index: 3}, Life: identity},
		{Job: job, Command: &events.DropFinalizer{Pod: "p"}, Pod: events.PodRef{Name: name, UID: "p"}},
	} {
		if k := keyOf(&task); k != create {
			t.Errorf("%T has key %v, want %v", task.Command, k, create)
		}
	}
	write, read := &events.Task{Job: job, Command: &events.WriteStatus{}}, &events.Task{Job: job, Command: &events.ReadJob{}}
	if keyOf(write) != keyOf(read) || keyOf(write) == create {
		t.Errorf("keys of the Job: %v, %v", keyOf(write), keyOf(read))
	}
}

// TestTakeBack: a task that has not begun is given back. A task that is taken back before it was submitted never
// begins.
func TestTakeBack(t *testing.T) {
	s := newScript(t)
	s.one()
	running := s.submit("a", "running", events.PriorityBulk)
	first := s.submit("b", "pod", events.PriorityBulk)
	behind := s.submit("b", "pod", events.PriorityBulk)
	last := s.submit("b", "pod", events.PriorityBulk)
	s.wants(s.next(), "a/running")

	s.takeBack(running) // too late
	s.takeBack(first)   // the first of its object
	s.takeBack(behind)  // it waits behind the first
	s.takeBack(first)   // twice
	never := s.tasks[0]
	never.Name = events.CommandID{Decided: 999} // never submitted
	s.names[never.Name] = "never"
	s.e.TakeBack(never)
	s.e.Submit(never) // too late
	s.wants(s.next(), "withdrawn b/pod, withdrawn b/pod, withdrawn never")
	if r := s.out["withdrawn never"].Do(t.Context()); r.Ended.Ending != events.Withdrawn || !r.Again {
		t.Errorf("what nobody had is given back as %+v, want Again", r)
	}
	s.ends("withdrawn never")
	if s.e.Idle() {
		t.Error("idle while a call is in flight")
	}
	call := s.out["withdrawn b/pod"]
	r := call.Do(t.Context())
	if r.Ended.Ending != events.Withdrawn || r.Ended.Sent || r.Again || r.Ended.Command != behind || r.Stream != events.JobStream("b") {
		t.Errorf("given back as %+v", r)
	}
	s.e.Done(call, r, s.now)
	s.ends("a/running")
	s.wants(s.next(), "b/pod")
	if s.out["b/pod"].Task.Name != last {
		t.Error("a withdrawn task was sent")
	}
}

func TestTaskThatIsBeingWorkedOnIsNotTakenTwice(t *testing.T) {
	s := newScript(t)
	s.one()
	s.submit("a", "0", events.PriorityBulk)
	s.submit("a", "1", events.PriorityBulk)
	s.wants(s.next(), "a/0")
	call := s.out["a/0"]
	s.e.Submit(call.Task)
	s.e.Submit(events.Task{Name: events.CommandID{Decided: 2}, Stream: call.Task.Stream, Command: call.Task.Command})
	s.ends("a/0")
	s.wants(s.drain(), "a/1")
}

func TestHaltGivesBackWhatHasNotBegun(t *testing.T) {
	s := newScript(t)
	s.one()
	s.submit("a", "0", events.PriorityBulk)
	s.submit("a", "0", events.PriorityBulk) // the same object: it waits for the first
	s.submit("b", "0", events.PriorityProgress)
	s.wants(s.next(), "a/0")
	s.e.Halt()
	s.submit("c", "0", events.PriorityFinish)
	s.wants(s.next(), "withdrawn a/0, withdrawn b/0, withdrawn c/0")
	s.ends("withdrawn a/0", "withdrawn b/0", "withdrawn c/0")
	if s.e.Idle() {
		t.Error("idle while a call is in flight")
	}
	s.ends("a/0")
	if !s.e.Idle() {
		t.Error("not idle after all")
	}
	select {
	case <-s.e.idle:
	default:
		t.Error("nobody who waits in Stop would be told")
	}
}

func TestPauseThatTheServerAsksFor(t *testing.T) {
	s := newScript(t)
	for i := range 20 {
		s.submit(fmt.Sprint("job", i), "0", events.PriorityBulk)
	}
	before := s.next()
	if len(before) != firstConcurrency {
		t.Fatalf("%d calls at first, want %d", len(before), firstConcurrency)
	}
	refused := events.CommandEnded{
		Ending: events.Refused, Class: events.RefusedTooManyRequests, RetryAfter: 3 * time.Second, Sent: true,
	}
	s.endsAs(before[0], refused, time.Millisecond)
	asked := s.now
	s.ends(before[1:]...)
	s.wants(s.next(), "")
	if wake := s.e.Wake(); wake != asked.Add(3*time.Second) {
		t.Errorf("wakes at %v, want 3s after %v", wake.Go(), asked.Go())
	}
	s.now = s.e.Wake()
	if after := s.next(); len(after) != firstConcurrency/2 {
		t.Errorf("%d calls after the pause, want half of %d", len(after), firstConcurrency)
	}
}

func TestNewRefuses(t *testing.T) {
	good := Config{API: wholeapi.Of((*apiserver.Client)(nil)), Objects: NewObjects(hashOf), Mode: events.ModeAll}
	rows := []struct {
		sentence string
		change   func(*Config)
	}{
		{"no API", func(c *Config) { c.API = nil }},
		{"no objects", func(c *Config) { c.Objects = nil }},
		{"no mode", func(c *Config) { c.Mode = 0 }},
		{"the mode that only observes", func(c *Config) { c.Mode = events.ModeObserve }},
		{"a negative limit", func(c *Config) { c.MaxConcurrent = -1 }},
	}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			c := good
			row.change(&c)
			if _, err := New(c); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}
