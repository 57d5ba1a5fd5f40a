package subscribe_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// stray publishes a message that is no record of a log.
func stray(t testing.TB, js jetstream.JetStream) {
	t.Helper()
	if _, err := js.Publish(t.Context(), nats.Subject{Cluster: cluster, Kind: "job", Event: "x"}.String(), []byte("{}")); err != nil {
		t.Fatal(err)
	}
}

// spoilt publishes a record whose data cannot be read.
func spoilt(t testing.TB, js jetstream.JetStream, r events.Record) {
	t.Helper()
	e := nats.Encoder{Cluster: cluster}
	m, err := e.Encode(&r, life, events.JobRef{Namespace: "default", Name: "job-" + r.Stream.ID}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.PublishMsg(t.Context(), &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: []byte("spoilt")}); err != nil {
		t.Fatal(err)
	}
}

// ofBefore publishes a stored message of the last program before the first release.
func ofBefore(t testing.TB, js jetstream.JetStream, r events.Record) {
	t.Helper()
	m := natstest.Before(t)[0]
	id := nats.ID{Log: life, Sequence: r.Sequence}.String()
	m.Header[nats.HeaderID], m.Header[nats.HeaderMsgID] = []string{id}, []string{id}
	m.Header[nats.HeaderSequence] = []string{strconv.FormatUint(uint64(r.Sequence), 10)}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func TestAMessageThatCannotBeReadIsNotPassedOverInSilence(t *testing.T) {
	for _, row := range []struct {
		sentence string
		put      func(t testing.TB, js jetstream.JetStream, r events.Record)
		id       nats.ID
		want     string
		gap      string
	}{
		{"of somebody else", func(t testing.TB, js jetstream.JetStream, r events.Record) { stray(t, js); put(t, js, life, 1, r) }, nats.ID{},
			"message 2 of the stream, to jobledger.v1.test.-.job.-.x, is no record of a log: header ce-id: ", ""},
		{"of a record", spoilt, nats.ID{Log: life, Sequence: 2},
			"message 2 of the stream, record " + life.LogID + ".1.2, cannot be read: ", "record 2 is missing"},
		{"of before the first release", ofBefore, nats.ID{Log: life, Sequence: 2},
			"record " + life.LogID + ".1.2, cannot be read: this message was written by a jobledger of before the first release, and this one does not " +
				"read it: begin at a message behind it, or delete the stream, and it is made again", "record 2 is missing"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			js := makeStream(t, natstest.NewServer(t).Start())
			put(t, js, life, 1, timer(1, 0, jobA))
			row.put(t, js, timer(2, 1, jobA))
			put(t, js, life, 1, timer(3, 2, jobA))
			config := subscribe.Config{Start: subscribe.All(), Durable: "d"}
			for range 2 { // the server remembers that it was not taken
				sub := start(t, js, config, nil)
				err := <-sub.ended
				sub.ended <- err
				var unreadable *subscribe.UnreadableError
				if !errors.As(err, &unreadable) || unreadable.Place != 2 || unreadable.ID != row.id || !strings.Contains(err.Error(), row.want) {
					t.Fatalf("it ended with %v", err)
				}
			}
			told := 0
			config.Unreadable = func(context.Context, jetstream.Msg, *subscribe.UnreadableError) error {
				told++
				return nil
			}
			left := 2
			if row.gap != "" {
				left = 1
			}
			got := start(t, js, config, nil).await(left)
			if last := got[left-1]; told != 1 || last.ID.Sequence != 3 || last.Gap != (subscribe.Gap{}) != (row.gap != "") ||
				row.gap != "" && last.Gap.String() != row.gap {
				t.Errorf("%d messages could not be read, and then came record %d, %q", told, last.ID.Sequence, last.Gap)
			}
		})
	}
}

// TestAmongMessagesOfOthersPlacesAreFound: the stream has messages of other clients between the records. These places
// are not reported as missing records, also after the messages were deleted.
func TestAmongMessagesOfOthersPlacesAreFound(t *testing.T) {
	js := makeStream(t, natstest.NewServer(t).Start())
	for seq := events.Sequence(1); seq <= 40; seq++ {
		put(t, js, life, 1, timer(seq, seq-1, jobA))
		for range seq % 3 {
			stray(t, js)
		}
	}
	st, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.DeleteMsg(t.Context(), 1); err != nil { // so it begins with a message of others
		t.Fatal(err)
	}
	ignore := func(context.Context, jetstream.Msg, *subscribe.UnreadableError) error { return nil }
	for _, row := range []struct {
		sentence string
		start    subscribe.Start
		first    events.Sequence
	}{
		{"from the start", subscribe.All(), 2},
		{"from a sequence", subscribe.From(20), 20},
		{"from a time", subscribe.Since(timer(30, 0, jobA).Time.Go()), 30},
		{"after a record", subscribe.After(nats.ID{Log: life, Sequence: 31}), 32},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			whole(t, start(t, js, subscribe.Config{Start: row.start, Unreadable: ignore}, nil).await(int(41-row.first)), row.first)
		})
	}
	config := subscribe.Config{Start: subscribe.All(), Unreadable: ignore, Durable: "d"}
	sub := start(t, js, config, nil)
	sub.await(39)
	if err := sub.end(); err != nil {
		t.Fatal(err)
	}
	stray(t, js)
	if st, err = js.Stream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	if err := st.DeleteMsg(t.Context(), st.CachedInfo().State.LastSeq); err != nil {
		t.Fatal(err)
	}
	put(t, js, life, 1, timer(41, 40, jobA))
	whole(t, start(t, js, config, nil).await(1), 41)
}
