package coalesce

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// atOnce is the period of a connection whose reads are not gathered.
func atOnce() time.Duration { return 0 }

// reads counts the reads of a connection, with their times.
type reads struct {
	net.Conn
	at []time.Time
}

func (r *reads) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	r.at = append(r.at, time.Now())
	return n, err
}

// stream gives a chunk each so often, all that came and fits when it is read, and after the last its end.
type stream struct {
	net.Conn
	chunk []byte
	every time.Duration
	left  int // chunks
	next  time.Time
	kept  []byte
}

func (s *stream) Read(b []byte) (int, error) {
	for s.left > 0 && (len(s.kept) == 0 || !time.Now().Before(s.next)) && len(s.kept)+len(s.chunk) <= len(b) {
		time.Sleep(time.Until(s.next))
		s.kept = append(s.kept, s.chunk...)
		s.left--
		s.next = s.next.Add(s.every)
	}
	if len(s.kept) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.kept)
	s.kept = s.kept[n:]
	return n, nil
}

// TestReadsAreGathered: of a message in each half millisecond, those of a period are read at once. Each byte arrives,
// and each within the period.
func TestReadsAreGathered(t *testing.T) {
	const messages, size = 1_000, 100
	for _, of := range []struct {
		name        string
		period      time.Duration
		least, most int
	}{
		{"one by one when none is to be gathered", 0, messages, messages + 1},
		{"those of a period together", period, messages / 16, messages/16 + 3},
	} {
		t.Run(of.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				below := &reads{Conn: &stream{chunk: make([]byte, size), every: time.Millisecond / 2, left: messages, next: time.Now()}}
				g := &gatherer{from: below, period: func() time.Duration { return of.period }}
				got := 0
				for b := make([]byte, 64); ; {
					n, err := g.Read(b)
					got += n
					if errors.Is(err, io.EOF) {
						break
					}
				}
				if got != messages*size {
					t.Errorf("%d bytes of %d", got, messages*size)
				}
				if n := len(below.at); n < of.least || n > of.most {
					t.Errorf("%d reads, want %d to %d", n, of.least, of.most)
				}
				for i := 1; i < len(below.at); i++ {
					if wait := below.at[i].Sub(below.at[i-1]); wait > max(of.period, time.Millisecond/2) {
						t.Fatalf("read %d came %v after the one before it", i, wait)
					}
				}
			})
		})
	}
}

// TestALongListIsNotHeldUp: once a read has filled the buffer none waits, though what comes in a period would not fill
// it each time.
func TestALongListIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const chunks = 1_000
		below := &reads{Conn: &stream{chunk: make([]byte, room/4), every: time.Millisecond, left: chunks, next: time.Now()}}
		g := &gatherer{from: below, period: func() time.Duration { return period }}
		if n, err := io.Copy(io.Discard, g); n != chunks*room/4 || err != nil {
			t.Fatal(n, err)
		}
		waits := 0
		for i := 1; i < len(below.at); i++ {
			if below.at[i].Sub(below.at[i-1]) >= period {
				waits++
			}
		}
		if most := chunks/int(listing/time.Millisecond) + 2; waits > most {
			t.Errorf("%d of %d reads waited, want %d at most", waits, len(below.at), most)
		}
	})
}

// TestTheFirstReadIsAtOnce: a message that comes after silence waits for nothing.
func TestTheFirstReadIsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := &stream{chunk: []byte("seen"), every: 2 * period, left: 10, next: time.Now()}
		g := &gatherer{from: below, period: func() time.Duration { return period }}
		b := make([]byte, 4)
		for range 10 {
			due := below.next
			if _, err := io.ReadFull(g, b); err != nil || !time.Now().Equal(due) {
				t.Fatalf("%v after it came: %v", time.Since(due), err)
			}
		}
	})
}

// TestPeriod: reads are gathered while more than a few requests are unanswered.
func TestPeriod(t *testing.T) {
	traffic := &Traffic{}
	hold := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
	defer server.Close()
	client := &http.Client{Transport: traffic.Count(&http.Transport{DialContext: traffic.Dial((&net.Dialer{}).DialContext)})}
	done := make(chan error)
	ask := func() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Error(err)
		}
		resp, err := client.Do(r)
		if err == nil {
			err = resp.Body.Close()
		}
		done <- err
	}
	const asked = few + 1
	for n := range int64(asked) {
		if p := traffic.period(); p != 0 {
			t.Errorf("with %d requests unanswered reads wait %v", n, p)
		}
		go ask()
		for traffic.unanswered.Load() != n+1 {
			runtime.Gosched()
		}
	}
	if p := traffic.period(); p != period {
		t.Errorf("with %d requests unanswered reads wait %v", asked, p)
	}
	close(hold)
	for range asked {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if p := traffic.period(); p != 0 {
		t.Errorf("with all requests answered reads wait %v", p)
	}
}
