package publish_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
)

// TestAStreamThatIsGoneIsNoticedWithoutARecord: nothing is written to the log any more.
func TestAStreamThatIsGoneIsNoticedWithoutARecord(t *testing.T) {
	for sentence, lose := range map[string]func(jetstream.Stream, jetstream.JetStream) error{
		"it is deleted": func(_ jetstream.Stream, js jetstream.JetStream) error { return js.DeleteStream(t.Context(), stream) },
		"it is deleted, and another one has its name": func(st jetstream.Stream, js jetstream.JetStream) error {
			natstest.RemakeStream(t, js, st.CachedInfo().Config)
			return nil
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 300).Grow(0)
			p := natstest.Publish(t, s, l.Log, func(c *publish.Config) { c.Look = 20 * time.Millisecond })
			p.CaughtUp(t)
			js := s.JetStream()
			st, err := js.Stream(t.Context(), stream)
			if err != nil {
				t.Fatal(err)
			}
			if err := lose(st, js); err != nil {
				t.Fatal(err)
			}
			natstest.Eventually(t, "the stream is there again, and whole", func() error {
				st, err := js.Stream(t.Context(), stream)
				if err != nil {
					return err
				}
				if got, want := st.CachedInfo().State.Msgs, uint64(l.Log.Head().Sequence); got != want {
					return fmt.Errorf("it has %d messages, want %d", got, want)
				}
				return nil
			})
			p.CaughtUp(t)
			wantWhole(t, s, l.Log)
		})
	}
}

// TestAStreamThatIsChangedIsNoticedWithoutARecord: settings that would lose messages are refused at once, not with the
// next record.
func TestAStreamThatIsChangedIsNoticedWithoutARecord(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 300).Grow(0)
	p := natstest.Publish(t, s, l.Log, func(c *publish.Config) { c.Look = 20 * time.Millisecond })
	p.CaughtUp(t)
	js := s.JetStream()
	st, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	c := st.CachedInfo().Config
	c.MaxMsgsPerSubject = 1
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	problem(t, p, "keeps only 1 messages of each subject")
}

// TestTheLagIsTheAgeOfTheOldestRecord: also at the first look, and after some were published.
func TestTheLagIsTheAgeOfTheOldestRecord(t *testing.T) {
	s, l := natstest.NewServer(t), anotherLog(t, 1)
	write := func(age time.Duration) {
		head := l.Log.Head().Sequence
		l.Append(events.Batch{Records: []events.Record{{
			Header: events.Header{
				Sequence: head + 1, Time: events.At(time.Now().Add(-age)), Stream: events.Controller, Previous: head,
				Kind: events.KindControllerStopped, Critical: events.KindControllerStopped.Critical(), Last: true,
			},
			Facts: &events.ControllerStopped{}, FactsSalt: events.Salt{1},
		}}})
	}
	if err := l.Log.SetOffset(publish.Consumer, l.Log.Head().Sequence); err != nil {
		t.Fatal(err)
	}
	write(time.Hour)
	write(time.Minute)
	p := natstest.Publish(t, s, l.Log)
	if st := p.Status(); st.Lag != 2 || st.Behind < time.Hour || st.Behind > time.Hour+patience.Time() {
		t.Errorf("the oldest record is an hour old: %d behind for %s", st.Lag, st.Behind)
	}
	s.Start()
	p.CaughtUp(t)
	if st := p.Status(); st.Behind != 0 {
		t.Errorf("nothing is behind, for %s", st.Behind)
	}
	s.Stop()
	write(time.Minute)
	if st := p.Status(); st.Lag != 1 || st.Behind < time.Minute || st.Behind > time.Minute+patience.Time() {
		t.Errorf("the oldest record is a minute old: %d behind for %s", st.Lag, st.Behind)
	}
}

// said is what a publisher logs.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) lines(of string) (n int, all string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.text.String(), of), s.text.String()
}

// TestAMissingRightIsLoggedOnce: the server reports it for each message, with its subject, and each message is tried
// again and again.
func TestAMissingRightIsLoggedOnce(t *testing.T) {
	s := natstest.NewServer(t, func(o *natsd.Options) {
		o.Users = []*natsd.User{{Username: "me", Permissions: &natsd.Permissions{
			Publish: &natsd.SubjectPermission{Deny: []string{nats.Prefix + ".>"}},
		}}}
		o.NoAuthUser = "me"
	}).Start()
	var log said
	p := natstest.Publish(t, s, natstest.NewLedger(t, 500).Grow(0).Log, func(c *publish.Config) {
		c.AckTimeout, c.Logger = 200*time.Millisecond, slog.New(slog.NewTextHandler(&log, nil))
	})
	problem(t, p, "permission is missing")
	natstest.Eventually(t, "it was tried some times", func() error {
		if st := p.Status(); st.Retreats < 20 {
			return fmt.Errorf("%d times", st.Retreats)
		}
		return nil
	})
	if n, all := log.lines("permission is missing"); n != 1 || strings.Count(all, "\n") > 10 {
		t.Errorf("it is logged %d times:\n%s", n, all)
	}
}

// TestAStopIsNoTrouble: an end on request is not logged as a failure.
func TestAStopIsNoTrouble(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 300).Grow(0)
	var log said
	p := natstest.Publish(t, s, l.Log, func(c *publish.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	p.CaughtUp(t)
	p.Stop()
	if n, all := log.lines("level=WARN"); n > 0 {
		t.Errorf("it warns:\n%s", all)
	}
}
