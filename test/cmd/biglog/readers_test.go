package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/test/internal/built"
)

// within limits the processor time of one answer about one Job, whatever the size of the log. The log is in the page
// cache.
const within = 300 * time.Millisecond

// TestOneJobOfALargeLogIsAnsweredAtOnce measures new processes that ask about one Job: Jobs at the beginning, in the
// middle and near the end of the log, one that failed and one with many pods. With JOBLEDGER_LONG the log has
// 10,000,000 records, and the processor time is judged. JOBLEDGER_BIGLOG names an existing log. Run it with -v to see
// the times.
func TestOneJobOfALargeLogIsAnsweredAtOnce(t *testing.T) {
	dir, records, judged := bigLog(t)
	p := program(t, dir)
	for _, at := range []int{1, records / 2, records - records/20} {
		for what, uid := range p.jobs(t, at) {
			for _, command := range [][]string{
				{"explain"}, {"attempts"}, {"timeline"}, {"get"}, {"get", "--at", "5m"}, {"get", "--at", strconv.Itoa(records)},
			} {
				best, computed := p.time(t, append([]string{command[0], "job/" + uid}, command[1:]...)...)
				t.Logf("%5d ms, %5d of a processor  %-24s %s, from record %d on",
					best.Milliseconds(), computed.Milliseconds(), strings.Join(command, " "), what, at)
				if judged && computed > within {
					t.Errorf("%s of %s, from record %d on, takes %s of a processor, more than %s", strings.Join(command, " "), what, at, computed, within)
				}
			}
		}
	}
}

// reader runs the program on a log.
type reader struct{ path, log string }

func program(t *testing.T, log string) reader {
	t.Helper()
	path, err := built.Program(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return reader{path, log}
}

func (p reader) output(t *testing.T, args ...string) []byte {
	t.Helper()
	out, _ := p.run(t, args...)
	return out
}

// run returns the output of the program and its processor time.
func (p reader) run(t *testing.T, args ...string) ([]byte, time.Duration) {
	t.Helper()
	cmd := exec.Command(p.path, append(args, "--log", p.log)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, &said)
	}
	return out.Bytes(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// time returns the shortest of five runs, by the clock and of the processor: other load on the machine only adds time.
func (p reader) time(t *testing.T, args ...string) (best, computed time.Duration) {
	t.Helper()
	for range 5 {
		began := time.Now()
		_, used := p.run(t, args...)
		if d := time.Since(began); best == 0 || d < best {
			best = d
		}
		if computed == 0 || used < computed {
			computed = used
		}
	}
	return best, computed
}

// jobs returns UIDs of Jobs that retired at or after a record: one that failed, and the one with the most pods.
func (p reader) jobs(t *testing.T, from int) map[string]string {
	t.Helper()
	text := p.output(t, "events", "--from", strconv.Itoa(from), "--limit", "2000", "--kind", "JobRetired", "-o", "json")
	most, found := 0, map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var r struct {
			Stream string
			Facts  struct {
				Result            string
				Succeeded, Failed int
			}
		}
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		uid := strings.TrimPrefix(r.Stream, "job/")
		if found["a Job that failed"] == "" && r.Facts.Result == "Failed" {
			found["a Job that failed"] = uid
		}
		if n := r.Facts.Succeeded + r.Facts.Failed; n > most {
			delete(found, fmt.Sprintf("a Job of %d pods", most))
			most = n
			found[fmt.Sprintf("a Job of %d pods", most)] = uid
		}
	}
	if len(found) < 2 {
		t.Fatalf("from record %d on the log has %v, want a Job that failed and one of many pods", from, found)
	}
	return found
}
