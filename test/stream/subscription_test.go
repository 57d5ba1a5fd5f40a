package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// way is how a subscriber subscribes.
type way int

const (
	byCommand way = iota // jobledger subscribe --durable -o json
	byDurable            // the Go package, with a durable name
	byClient             // only nats.go, from the place in the stream that it keeps
	byPackage            // the Go package, after the event that it keeps
	ways
)

var wayNames = [ways]string{"jobledger subscribe --durable", "the package, durable", "nats.go", "the package, after an ID"}

// subscription is a subscriber, its filter and the events that it has.
type subscription struct {
	*process
	way      way
	filter   nats.Filter
	file     string
	read     int64 // size of the part that was read
	all      []got // the events in it
	restarts int   // after it ended by itself, because there was no server
}

// got is an event that a subscriber has.
type got struct {
	place    uint64 // in the stream; 0 for the command, which does not show it
	id       nats.ID
	stream   string
	previous events.Sequence
	sum      string
}

func (w *world) subscribe(way way, name, port string, filter nats.Filter) *subscription {
	s := &subscription{way: way, filter: filter, file: filepath.Join(w.dir, name+".got")}
	pick, err := json.Marshal(filter)
	if err != nil {
		w.t.Fatal(err)
	}
	env := []string{portVariable + "=" + port, fileVariable + "=" + s.file, pickVariable + "=" + string(pick)}
	switch way {
	case byCommand:
		s.process = w.role("", name)
		s.args = append([]string{w.program, "subscribe", "--nats-url", "nats://127.0.0.1:" + port, "--cluster", cluster,
			"--durable", name, "--all", "--state", filepath.Join(w.dir, name+".state"), "-o", "json"}, flags(filter)...)
		s.data = s.file
	case byDurable:
		s.process = w.role("durable", name, append(env, nameVariable+"="+name)...)
	case byClient:
		s.process = w.role("client", name, env...)
	case byPackage:
		s.process = w.role("package", name, env...)
	}
	return s
}

// flags are the flags with which jobledger subscribe has the same filter.
func flags(f nats.Filter) []string {
	switch {
	case f.Kind == nats.KindJob:
		return []string{"job/" + f.Name, "-n", f.Namespace}
	case f.Event != "":
		return []string{"--kind", f.Event}
	}
	return nil
}

// goesOn checks that the subscriber runs. The command ends if there is no server, or no stream yet, when it starts;
// then its supervisor restarts it.
func (s *subscription) goesOn() {
	s.t.Helper()
	over, err := s.over()
	if !over {
		return
	}
	said := s.tail()
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := lines[len(lines)-1]
	if s.way != byCommand || !strings.Contains(last, "connect to NATS") && !strings.Contains(last, "stream") {
		s.t.Fatalf("%s ended: %v\n%s", s.name, err, said)
	}
	s.restarts++
	s.start()
}

// await waits until a subscriber has the last record that it asked for.
func (w *world) await(ctx context.Context, s *subscription, last events.Sequence) {
	w.t.Helper()
	for {
		if err := s.readOn(); err != nil {
			w.t.Fatalf("%s: %v", s.name, err)
		}
		if len(s.all) > 0 && s.all[len(s.all)-1].id.Sequence >= last {
			return
		}
		s.goesOn()
		w.pause(ctx, 20, 40)
	}
}

// readOn reads the complete lines that were written since the last call.
func (s *subscription) readOn() error {
	file, err := os.Open(s.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it has nothing yet
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(s.read, io.SeekStart); err != nil {
		return err
	}
	for in := bufio.NewReaderSize(file, 1<<20); ; {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // the rest of an incomplete line is read later
		}
		if err != nil {
			return err
		}
		parse := parseLine
		if s.way == byCommand {
			parse = parseJSON
		}
		g, err := parse(line)
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		s.all = append(s.all, g)
		s.read += int64(len(line))
	}
}

// parseLine reads a line of this test's roles.
func parseLine(line []byte) (g got, err error) {
	words := bytes.Fields(line)
	if len(words) != 5 {
		return g, errors.New("want 5 words")
	}
	if g.id, err = nats.ParseID(string(words[1])); err != nil {
		return g, err
	}
	_, err = fmt.Sscan(string(words[0])+" "+string(words[3]), &g.place, &g.previous)
	g.stream, g.sum = string(words[2]), string(words[4])
	return g, err
}

// parseJSON reads a line of the command. A gap, or another life of the log, is a separate line without an ID.
func parseJSON(line []byte) (g got, err error) {
	var said struct {
		ID, Stream string
		Previous   events.Sequence
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return g, err
	}
	g.id, err = nats.ParseID(said.ID)
	g.stream, g.previous = said.Stream, said.Previous
	g.sum = fmt.Sprintf("%08x", crc32.ChecksumIEEE(line))
	return g, err
}
