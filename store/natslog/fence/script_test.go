package fence

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/store/natslog/stream"
)

// asked is one request of a script, and what came of it. Its instants are counts of what happened, on one line for all
// clients.
type asked struct {
	do         Do
	place      uint64
	message    string
	sent, came int
	got        said
}

// script plays clients that know nothing of each other against one stream, and keeps all that was asked and said.
type script struct {
	t   testing.TB
	mu  sync.Mutex
	now int
	all []asked
}

// ask makes one request, which ends after answerTime.
func (p *script) ask(s *stream.Stream, a asked) said {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	p.mu.Lock()
	p.now++
	a.sent = p.now
	p.mu.Unlock()
	a.got = answerOf(ctx, s, a)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now++
	a.came = p.now
	p.all = append(p.all, a)
	return a.got
}

func answerOf(ctx context.Context, s *stream.Stream, a asked) said {
	switch a.do {
	case Send:
		place, err := s.Send(ctx, a.place, []byte(a.message))
		var api *jetstream.APIError
		var number uint64
		if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			if n, err := fmt.Sscanf(api.Description, "wrong last sequence: %d", &number); n == 1 && err == nil {
				return said{kind: refusal, place: number}
			}
		}
		if err == nil {
			return said{kind: acknowledged, place: place}
		}
	case Look:
		if data, there, err := s.At(ctx, a.place); err == nil && there {
			return said{kind: found, place: a.place, message: string(data)}
		}
	case Recent:
		if place, err := s.Newest(ctx); err == nil && place > 0 {
			return said{kind: newest, place: place}
		}
	case Idle, Pause, End:
	}
	return said{}
}

// client makes that many requests: half of them messages, most behind the place that it believes to be the newest, some
// behind another one, some once more as they were.
func (p *script) client(s *stream.Stream, name string, r *rand.Rand, requests int, made func()) {
	var last uint64
	var sent []asked
	pause := firstPause
	for n := range requests {
		a := asked{do: Send, place: last, message: fmt.Sprintf("%s-%d", name, n)}
		switch r.IntN(12) {
		case 0:
			a.place = last + 1 + uint64(r.IntN(2))
		case 1:
			a.place = uint64(r.Int64N(int64(last) + 1))
		case 2, 3:
			if len(sent) > 0 {
				a = sent[r.IntN(len(sent))]
			}
		case 4, 5, 6:
			a = asked{do: Look, place: last + uint64(r.IntN(3))}
		case 7, 8:
			a = asked{do: Recent}
		}
		if a.do == Send {
			sent = append(sent, a)
		}
		got := p.ask(s, a)
		switch {
		case got.kind != nothing:
			pause = firstPause
			if last = max(got.place, last); r.IntN(8) == 0 {
				last = got.place
			}
		case a.do != Look: // as the machine does
			dial.Wait(p.t.Context(), pause)
			pause = min(2*pause, lastPause)
		}
		made()
	}
}

// end stores one more message, behind which nothing of before can come, and gives all that the stream has.
func (p *script) end(s *stream.Stream) []string {
	p.t.Helper()
	var committed []string
	natstest.Eventually(p.t, "the stream takes the last message", func() error {
		ctx, cancel := context.WithTimeout(p.t.Context(), answerTime)
		defer cancel()
		data, there, err := s.At(ctx, uint64(len(committed)+1))
		if err == nil && there {
			committed = append(committed, string(data))
		} else if err == nil {
			p.ask(s, asked{do: Send, place: uint64(len(committed)), message: "end"})
		}
		if len(committed) == 0 || committed[len(committed)-1] != "end" {
			return fmt.Errorf("it has %d: %w", len(committed), errors.Join(err, errors.New("not the last one yet")))
		}
		return nil
	})
	return committed
}

// judge compares what was said with the model: the stream is one that the model can come to, and each answer is one
// that the model may give when no more is committed than was sent by then.
func (p *script) judge(committed []string) {
	p.t.Helper()
	first := map[string]int{} // when a message was sent first
	w := world{}
	for _, a := range p.all {
		if a.do == Send {
			w.send(request{expect: a.place, message: a.message})
			if at := first[a.message]; at == 0 || a.sent < at {
				first[a.message] = a.sent
			}
		}
	}
	for i, m := range committed {
		r := request{expect: uint64(i), message: m}
		at, there := slices.BinarySearchFunc(w.air, r, compare)
		if !there || !w.commit(at) {
			p.t.Fatalf("the stream has %q in place %d: nobody sent that behind %d, or it is there twice", m, i+1, i)
		}
	}
	for _, a := range p.all {
		by := world{committed: committed}
		if i := slices.IndexFunc(committed, func(m string) bool { return first[m] > a.came }); i >= 0 {
			by.committed = committed[:i]
		}
		for _, b := range p.all { // what may be proposed by then
			if b.do == Send && b.sent < a.came && !slices.Contains(by.committed, b.message) {
				by.air = append(by.air, request{expect: b.place, message: b.message})
			}
		}
		if !by.allows(a.do, a.place, a.message, a.got) {
			p.t.Errorf("asked %+v: of %d messages the model does not say that; the stream ends with %d",
				a, len(by.committed), len(committed))
		}
	}
}

// play plays one script on a stream of these servers. Faults come between requests, at counts that the seed says.
func play(t *testing.T, servers natstest.Servers, name string, seed uint64, requests int) map[saidKind]int {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 42))
	p := &script{t: t}
	var clients []*stream.Stream
	made := make(chan struct{}, 3*requests)
	for range 3 {
		js := natstest.JetStream(t, servers.URL(), append(stream.Options(), natsgo.ErrorHandler(broken))...)
		if len(clients) == 0 {
			natstest.Eventually(t, "the stream is made", func() error {
				_, err := stream.Make(t.Context(), js, stream.Config{Name: name, Replicas: len(servers)})
				return err
			})
		}
		s, err := stream.Open(t.Context(), js, name)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, s)
	}
	var running sync.WaitGroup
	for i, s := range clients {
		running.Go(func() {
			p.client(s, string(rune('a'+i)), rand.New(rand.NewPCG(seed, uint64(i))), requests, func() { made <- struct{}{} })
		})
	}
	faults(t, servers, r, made, 3*requests)
	running.Wait()
	for _, s := range servers {
		s.Resume()
	}
	p.judge(p.end(clients[0]))
	counts := map[saidKind]int{}
	for _, a := range p.all {
		counts[a.got.kind]++
	}
	return counts
}

// broken hears of connections that break, which is what is tested.
func broken(*natsgo.Conn, *natsgo.Subscription, error) {}

// faults does what the seed says to the servers while requests are made: one or all are killed and started again, one
// is stopped and goes on.
func faults(t *testing.T, servers natstest.Servers, r *rand.Rand, made <-chan struct{}, requests int) {
	t.Helper()
	after := func(n int) {
		for range n {
			if requests == 0 {
				return
			}
			<-made
			requests--
		}
	}
	for requests > 0 {
		after(5 + r.IntN(20))
		one := servers[r.IntN(len(servers))]
		switch r.IntN(4) {
		case 0:
			one.Pause()
			after(3 + r.IntN(15))
			one.Resume()
		case 1:
			for _, s := range servers {
				s.Kill()
			}
			after(r.IntN(4))
			for _, s := range servers {
				s.Start()
			}
		default:
			one.Kill()
			after(r.IntN(15))
			one.Start()
		}
	}
}

// TestServersSayWhatTheModelSays: random scripts of three clients on streams of one server and of three, which are
// killed, stopped and started again.
func TestServersSayWhatTheModelSays(t *testing.T) {
	scripts := 3
	if long() {
		scripts = 100
	}
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("R%d", n), func(t *testing.T) {
			servers, counts := natstest.NewServers(t, n), map[saidKind]int{}
			for seed := range uint64(scripts) {
				t.Logf("seed %d", seed)
				for kind, n := range play(t, servers, fmt.Sprintf("log-%d", seed), seed, 25) {
					counts[kind] += n
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d scripts: %d acknowledged, %d refused, %d found, %d newest, %d nothing", scripts, counts[acknowledged],
				counts[refusal], counts[found], counts[newest], counts[nothing])
			if counts[acknowledged] < 3*scripts || counts[refusal] < scripts || counts[nothing] < scripts {
				t.Error("the scripts are blind")
			}
		})
	}
}
