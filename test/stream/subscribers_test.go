package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// A subscriber writes each event it gets into a file, as a line. A killed subscriber may leave an incomplete line; the
// next one cuts it off.

// keep writes the line of an event.
func keep(file *os.File, e *nats.Event, place uint64) error {
	_, err := fmt.Fprintf(file, "%d %s %s %d %08x\n", place, e.ID, e.Stream, e.Previous, crc32.ChecksumIEEE(recordjson.Record(&e.Record)))
	return err
}

// kept opens the file, and returns the last event in it; an empty one: there is none.
func kept() (file *os.File, last got, err error) {
	if file, err = os.OpenFile(os.Getenv(fileVariable), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, last, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, last, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if err := file.Truncate(int64(whole)); err != nil {
		return nil, last, err
	}
	if _, err := file.Seek(int64(whole), io.SeekStart); err != nil || whole == 0 {
		return file, last, err
	}
	last, err = parseLine(text[bytes.LastIndexByte(text[:whole-1], '\n')+1 : whole])
	return file, last, err
}

// connect connects, also to a server that is away.
func connect() (jetstream.JetStream, error) {
	conn, err := dial.Config{URL: url()}.Connect()
	if err != nil {
		return nil, err
	}
	return jetstream.New(conn)
}

// asked returns the subscriber's filter.
func asked() (f nats.Filter, err error) {
	err = json.Unmarshal([]byte(os.Getenv(pickVariable)), &f)
	return f, err
}

// durable is a subscriber with the Go package and a durable name.
func durable(ctx context.Context) error {
	return follow(ctx, func(got) subscribe.Config {
		return subscribe.Config{Durable: os.Getenv(nameVariable), Start: subscribe.All()}
	})
}

// after is a subscriber with the Go package that remembers its last event itself, so that no event comes twice.
func after(ctx context.Context) error {
	return follow(ctx, func(last got) subscribe.Config {
		if last.id == (nats.ID{}) {
			return subscribe.Config{Start: subscribe.All()}
		}
		return subscribe.Config{Start: subscribe.After(last.id)}
	})
}

func follow(ctx context.Context, config func(last got) subscribe.Config) error {
	file, last, err := kept()
	if err != nil {
		return err
	}
	js, err := connect()
	if err != nil {
		return err
	}
	filter, err := asked()
	if err != nil {
		return err
	}
	c := config(last)
	c.Cluster, c.Tries = cluster, 1
	if filter != (nats.Filter{Cluster: cluster}) {
		c.Filters = []nats.Filter{filter}
	}
	return subscribe.Run(ctx, js, c, func(_ context.Context, e *subscribe.Event) error {
		if e.Gap != (subscribe.Gap{}) {
			return errors.New(e.Gap.String())
		}
		return keep(file, &e.Event, e.Place)
	})
}

// client is a subscriber without our package.
func client(ctx context.Context) error {
	file, last, err := kept()
	if err != nil {
		return err
	}
	js, err := connect()
	if err != nil {
		return err
	}
	filter, err := asked()
	if err != nil {
		return err
	}
	for next := last.place + 1; ctx.Err() == nil; {
		if next, err = ordered(ctx, js, filter, file, next); err != nil {
			return err
		}
	}
	return nil
}

// ordered takes messages until the server fails, and returns the place from which to go on. An error is the
// subscriber's own fault.
func ordered(ctx context.Context, js jetstream.JetStream, filter nats.Filter, file *os.File, next uint64) (uint64, error) {
	bound, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	consumer, err := js.OrderedConsumer(bound, name, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{filter.String()}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: next,
	})
	if err != nil {
		<-bound.Done() // no server or no stream yet
		return next, nil
	}
	iter, err := consumer.Messages()
	if err != nil {
		return next, nil
	}
	defer iter.Stop()
	defer context.AfterFunc(ctx, iter.Stop)()
	for {
		m, err := iter.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return next, nil
		}
		if err != nil {
			return next, nil
		}
		meta, err := m.Metadata()
		if err != nil {
			return next, err
		}
		e, err := nats.Decode(&nats.Message{Subject: m.Subject(), Header: m.Headers(), Data: m.Data()})
		if err != nil {
			return next, err
		}
		if err := keep(file, &e, meta.Sequence.Stream); err != nil {
			return next, err
		}
		next = meta.Sequence.Stream + 1
	}
}
