package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/built"
)

// witness is a "jobledger subscribe", and the events that it got.
type witness struct {
	*process
	sentence string
	exec     bool   // events are passed to a command
	durable  bool   // so it may be killed
	file     string // file with the events that it got
	filter   nats.Filter
}

// remaker does to the stream what people and broken disks do.
type remaker struct {
	*world
	js        jetstream.JetStream
	port      string
	store     string // of the server
	enough    string // the file that makes the publisher write the last tenth
	copied    string // a copy of the store; empty: there is none yet
	witnesses []*witness
	lost      int             // events that witnesses were told to be missing
	round     []string        // the troubles left in this round
	last      events.Sequence // the trouble ends when the first witness has this record
	done      map[string]int
}

// TestAStreamThatIsMadeAnewBringsNothingBackAndLosesNothingWithoutAWord: while records are written, the stream is
// deleted and purged, its store is wiped and restored from an older copy, and durable subscribers are killed.
func TestAStreamThatIsMadeAnewBringsNothingBackAndLosesNothingWithoutAWord(t *testing.T) {
	records, waits := 2500, 2
	if effort.IsLong() {
		records, waits = 40_000, 6
	}
	ctx, cancel := patience.Several(t.Context(), waits)
	defer cancel()
	r := newRemaker(t, records)
	r.server.start()
	r.publisher.start()
	r.connect(ctx)
	for _, w := range r.witnesses {
		w.start()
	}
	for _, w := range r.witnesses {
		r.await(ctx, w, func(got []string) bool { return len(got) > 0 })
	}
	for r.reached() < r.last {
		r.pause(ctx, 100, 1000)
		r.trouble(ctx)
		r.goOn()
	}
	// The last tenth comes only now: lost records are reported with the next ones, and no other writer follows.
	if err := os.WriteFile(r.enough, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for !r.published() {
		r.pause(ctx, 20, 40)
		r.goOn()
	}
	_, all := r.want()
	for _, w := range r.witnesses {
		r.check(ctx, w, all)
	}
	t.Logf("%d records; %v", len(all), r.done)
	for _, what := range []string{"delete", "purge", "wipe", "restore", "kill"} {
		if r.done[what] == 0 {
			t.Errorf("%s was done %d times: this proves too little", what, r.done[what])
		}
	}
	if r.lost == 0 {
		t.Error("no purge took away what somebody waited for: this proves too little")
	}
}

func newRemaker(t *testing.T, records int) *remaker {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := &world{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 0))}
	w.source = filepath.Join(w.dir, "source")
	jobs := w.writeSource(records)
	var err error
	if w.program, err = built.Program(t.Context(), w.dir); err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(natstest.FreePort(t))
	r := &remaker{
		world: w, port: port, store: filepath.Join(w.dir, "nats"), enough: filepath.Join(w.dir, "enough"),
		done: map[string]int{},
	}
	r.last = events.Sequence(records * 8 / 10)
	w.server = w.role("server", "server", portVariable+"="+port, dirVariable+"="+r.store)
	w.publisher = w.role("publisher", "publisher", portVariable+"="+port, dirVariable+"="+filepath.Join(w.dir, "log"),
		fromVariable+"="+w.source, paceVariable+"=100", enoughVariable+"="+r.enough)
	for i, sentence := range []string{"live", "live, with a command", "durable", "durable, with a command", "durable, of a namespace"} {
		filter := nats.Filter{Cluster: cluster}
		if strings.HasSuffix(sentence, "namespace") {
			filter.Namespace = jobs[0].Namespace
		}
		name := fmt.Sprintf("witness-%d", i)
		one := &witness{
			process: w.role("", name), sentence: sentence, durable: strings.HasPrefix(sentence, "durable"),
			exec: strings.HasSuffix(sentence, "command"), file: filepath.Join(w.dir, name+".got"), filter: filter,
		}
		one.args = []string{w.program, "subscribe", "--nats-url", "nats://127.0.0.1:" + port, "--cluster", cluster}
		if filter.Namespace != "" {
			one.args = append(one.args, "-n", filter.Namespace)
		}
		if one.durable {
			one.args = append(one.args, "--durable", name, "--all", "--state", filepath.Join(w.dir, name+".state"))
		}
		if one.exec {
			one.args = append(one.args, "--exec", fmt.Sprintf(`echo "$JOBLEDGER_ID" >> '%s'`, one.file))
		} else {
			one.args, one.data = append(one.args, "-o", "json"), one.file
		}
		r.witnesses = append(r.witnesses, one)
	}
	return r
}

// connect waits until the stream exists.
func (r *remaker) connect(ctx context.Context) {
	r.t.Helper()
	if r.js == nil {
		r.js = natstest.JetStream(r.t, "nats://127.0.0.1:"+r.port)
	}
	for {
		bound, cancel := context.WithTimeout(ctx, time.Second)
		_, err := r.js.Stream(bound, name)
		if cancel(); err == nil {
			return
		}
		r.pause(ctx, 10, 20)
	}
}

// trouble causes one trouble; each round has them in another order.
func (r *remaker) trouble(ctx context.Context) {
	r.t.Helper()
	if len(r.round) == 0 {
		r.round = []string{"copy", "kill", "kill", "delete", "purge", "wipe", "restore"}
		r.rng.Shuffle(len(r.round), func(i, j int) { r.round[i], r.round[j] = r.round[j], r.round[i] })
	}
	what := r.round[0]
	r.round = r.round[1:]
	switch what {
	case "copy":
		r.copyStore(ctx)
	case "kill":
		w := r.witnesses[2+r.rng.IntN(3)]
		w.kill()
		r.pause(ctx, 0, 300)
		w.start()
	case "delete":
		r.connect(ctx)
		if err := r.js.DeleteStream(ctx, name); err != nil {
			return // it is wiped, or not there yet
		}
	case "purge":
		w := r.witnesses[2+r.rng.IntN(2)] // it is killed, and misses the purged records
		w.kill()
		r.grow(ctx)
		purged := r.purge(ctx)
		w.start()
		if !purged {
			return
		}
	case "wipe":
		r.replaceStore("")
	case "restore":
		if r.copied == "" {
			return
		}
		r.replaceStore(r.copied)
	}
	r.done[what]++
}

// grow waits until the stream has a few more records, which killed subscribers now miss, or the trouble is over.
func (r *remaker) grow(ctx context.Context) {
	r.t.Helper()
	for before := r.reached(); r.reached() < min(before+3, r.last); {
		r.pause(ctx, 20, 50)
	}
}

// purge removes all or half of the stream's messages, unless the stream is away.
func (r *remaker) purge(ctx context.Context) bool {
	r.t.Helper()
	r.connect(ctx)
	st, err := r.js.Stream(ctx, name)
	if err != nil {
		return false
	}
	var options []jetstream.StreamPurgeOpt
	if state := st.CachedInfo().State; r.rng.IntN(4) == 0 && state.Msgs > 1 {
		options = append(options, jetstream.WithPurgeSequence(state.FirstSeq+state.Msgs/2))
	}
	return st.Purge(ctx, options...) == nil
}

// copyStore copies the server's present store. If the server was just started on a wiped store, it may have no
// directory yet, so copyStore waits until the stream exists.
func (r *remaker) copyStore(ctx context.Context) {
	r.t.Helper()
	r.connect(ctx)
	r.server.kill()
	r.copied = filepath.Join(r.dir, fmt.Sprintf("copy-%d", r.server.kills))
	if err := os.CopyFS(r.copied, os.DirFS(r.store)); err != nil {
		r.t.Fatal(err)
	}
	r.server.start()
}

// replaceStore gives the server the store of a copy, or none.
func (r *remaker) replaceStore(by string) {
	r.t.Helper()
	r.server.kill()
	if err := os.RemoveAll(r.store); err != nil {
		r.t.Fatal(err)
	}
	if by != "" {
		if err := os.CopyFS(r.store, os.DirFS(by)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.server.start()
}

// goOn restarts witnesses that ended because at their start there was no server, or no stream. One that is not durable
// must not end.
func (r *remaker) goOn() {
	r.t.Helper()
	if over, err := r.server.over(); over {
		r.t.Fatalf("the NATS server ended: %v\n%s", err, r.server.tail())
	}
	for _, w := range r.witnesses {
		over, err := w.over()
		if !over {
			continue
		}
		said := w.tail()
		lines := strings.Split(strings.TrimSpace(said), "\n")
		if last := lines[len(lines)-1]; !w.durable || !strings.Contains(last, "connect to NATS") && !strings.Contains(last, "stream") {
			r.t.Fatalf("the one that is %s ended: %v\n%s", w.sentence, err, said)
		}
		w.start()
	}
}

// published reports whether all records are published; then the publisher ends.
func (r *remaker) published() bool {
	r.t.Helper()
	over, err := r.publisher.over()
	if err != nil {
		r.t.Fatalf("the publisher ended: %v\n%s", err, r.publisher.tail())
	}
	return over
}

// reached returns the newest record of the first witness.
func (r *remaker) reached() events.Sequence {
	r.t.Helper()
	all := r.handed(r.witnesses[0])
	return lastOf(r.t, all)
}

func lastOf(t *testing.T, lines []string) (last events.Sequence) {
	t.Helper()
	for _, line := range lines {
		if g := parseHanded(t, line); g.gap == nil {
			last = g.id.Sequence
		}
	}
	return last
}

// handed returns the complete lines of a witness.
func (r *remaker) handed(w *witness) (lines []string) {
	r.t.Helper()
	text, err := os.ReadFile(w.file)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	for _, line := range strings.SplitAfter(string(text), "\n") {
		if strings.HasSuffix(line, "\n") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func (r *remaker) await(ctx context.Context, w *witness, enough func(got []string) bool) {
	r.t.Helper()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for !enough(r.handed(w)) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			got := r.handed(w)
			r.t.Fatalf("the one that is %s has %d lines only, the last %s\n%s%s",
				w.sentence, len(got), got[max(0, len(got)-3):], w.tail(), r.publisher.tail())
		}
		r.goOn()
	}
}

// missing is a range of records that a witness was told to be missing.
type missing struct {
	stream   string // empty: all streams
	from, to events.Sequence
}

// handedLine is a line of a witness.
type handedLine struct {
	id  nats.ID
	gap *missing // instead of an event
}

func parseHanded(t *testing.T, line string) (h handedLine) {
	t.Helper()
	text := line
	if strings.HasPrefix(line, "{") {
		var said struct {
			ID  string
			Gap *struct {
				Stream   string
				From, To events.Sequence
			}
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if g := said.Gap; g != nil {
			h.gap = &missing{g.Stream, g.From, g.To}
			return h
		}
		text = said.ID
	}
	var err error
	if h.id, err = nats.ParseID(text); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return h
}

var saidMissing = regexp.MustCompile(`records? (\d+)(?: to (\d+))? (?:is|are) missing`)

// check compares what a witness got, and was told to be missing, with what its filter selects.
func (r *remaker) check(ctx context.Context, w *witness, all []events.Record) {
	r.t.Helper()
	jobs := names(all)
	var want []*events.Record
	for i := range all {
		if passes(w.filter, jobs[all[i].Stream], &all[i]) {
			want = append(want, &all[i])
		}
	}
	last := want[len(want)-1].Sequence
	r.await(ctx, w, func(got []string) bool { return lastOf(r.t, got) >= last })

	var ids []nats.ID
	var gaps []missing
	for _, line := range r.handed(w) {
		if h := parseHanded(r.t, line); h.gap != nil {
			gaps = append(gaps, *h.gap)
		} else {
			ids = append(ids, h.id)
		}
	}
	said, err := os.ReadFile(w.said)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, match := range saidMissing.FindAllStringSubmatch(string(said), -1) {
		from, _ := strconv.ParseUint(match[1], 10, 64)
		to, _ := strconv.ParseUint(match[2], 10, 64)
		gaps = append(gaps, missing{from: events.Sequence(from), to: events.Sequence(max(from, to))})
	}
	if bytes.Contains(said, []byte("rewritten")) {
		r.t.Errorf("the one that is %s takes the log for another\n%s", w.sentence, w.tail())
	}
	has, twice := map[events.Sequence]bool{}, 0
	for i, id := range ids {
		has[id.Sequence] = true
		switch {
		case i == 0 || id.Compare(ids[i-1]) > 0:
		case id == ids[i-1], i > 1 && id.Compare(ids[i-2]) > 0:
			// It was killed after it took the event before and before it could note that. Events that it still waited
			// for come first, if the stream has them again.
			twice++
		default:
			r.t.Fatalf("the one that is %s was handed record %s after %s", w.sentence, id, ids[i-1])
		}
	}
	if twice > w.kills {
		r.t.Errorf("the one that is %s was handed %d events twice, and killed %d times", w.sentence, twice, w.kills)
	}
	lost := 0
	for _, one := range want {
		if has[one.Sequence] || one.Sequence < ids[0].Sequence && !w.durable {
			continue
		}
		lost++
		if !slices.ContainsFunc(gaps, func(g missing) bool {
			return g.from <= one.Sequence && one.Sequence <= g.to && (g.stream == "" || g.stream == one.Stream.String())
		}) {
			behind := slices.IndexFunc(ids, func(id nats.ID) bool { return id.Sequence > one.Sequence })
			r.t.Fatalf("the one that is %s lost record %d without a word: it was handed %v, and told of %v\n%s%s",
				w.sentence, one.Sequence, ids[max(0, behind-2):min(len(ids), behind+2)], gaps, said, r.publisher.tail())
		}
	}
	r.lost += lost
	r.t.Logf("%s: %d events, %d twice, %d lost and told of, %d kills", w.sentence, len(ids), twice, lost, w.kills)
}
