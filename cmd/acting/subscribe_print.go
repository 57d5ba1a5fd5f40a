package acting

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// eventPrinter prints events in the order in which they come.
type eventPrinter struct {
	*cli.Printer
	cluster string
	learned int // number of events from which the names of Jobs were learned

	// Rows that arrive at the same time are printed at once, so that the columns fit them. waiting is the number of
	// rows not printed yet, and together the largest such number.
	waiting, together int
}

func newEventPrinter(c *cli.CLI, f *subscribeFlags) *eventPrinter {
	p := &eventPrinter{Printer: cli.NewPrinter(c, &f.output, &words.Names{}), cluster: f.cluster, together: 50}
	if kinds, err := ask.ChosenKinds(f.kinds, f.decisions); err == nil && len(kinds) > 0 {
		p.Live(kinds)
	}
	if f.durable != "" {
		// If the server remembers what was taken (--durable), print each event at once: after take, the server counts
		// it as taken.
		p.together = 1
	}
	return p
}

// forgetEvery is after how many events all learned names of Jobs are forgotten. Otherwise a subscription that does not
// receive the events that end Jobs would need more and more memory.
const forgetEvery = 100_000

func (p *eventPrinter) take(_ context.Context, e *subscribe.Event) error {
	for _, line := range notes(e, p.Format == cli.FormatJSON) {
		if p.Format == cli.FormatJSON {
			if _, err := p.Out.WriteString(line + "\n"); err != nil {
				return err
			}
		} else {
			p.Table.Rule("— " + words.Clean(line) + " —")
		}
	}
	if p.Format == cli.FormatJSON {
		if _, err := p.Out.Write(append(eventJSON(p.cluster, e), '\n')); err != nil {
			return err
		}
		return p.Flush()
	}
	if p.learned++; p.learned%forgetEvery == 0 {
		p.Names = &words.Names{Zone: p.Zone}
	}
	p.Names.Call(e.Stream, e.Job)
	p.Names.Learn(&e.Record)
	p.Row(&e.Record)
	p.Names.Forget(&e.Record)
	if p.waiting++; e.Pending > 0 && p.waiting < p.together {
		return nil
	}
	p.waiting = 0
	return p.Flush()
}

// notes returns lines about where an event is in the stream: that records are missing before it, or that another log or
// epoch (life of a log) begins with it.
func notes(e *subscribe.Event, asJSON bool) (lines []string) {
	if e.Before != (nats.ID{}) {
		if asJSON {
			lines = append(lines, line(map[string]any{"life": map[string]any{"log": e.ID.Log.LogID, "epoch": e.ID.Log.Epoch, "before": e.Before.String()}}))
		} else {
			lines = append(lines, life(e))
		}
	}
	if g := e.Gap; g != (subscribe.Gap{}) {
		if asJSON {
			gap := map[string]any{"log": g.Log.LogID, "epoch": g.Log.Epoch, "from": g.From, "to": g.To, "published": g.Published()}
			if g.Stream != (events.Stream{}) {
				gap["stream"] = g.Stream.String()
			}
			lines = append(lines, line(map[string]any{"gap": gap}))
		} else {
			lines = append(lines, g.String())
		}
	}
	return lines
}

// life returns the line that says that another log or another epoch (life of a log) begins.
func life(e *subscribe.Event) string {
	if e.Before.Log.LogID != e.ID.Log.LogID {
		return fmt.Sprintf("another log begins: %s, in the place of %s", e.ID.Log.LogID, e.Before.Log.LogID)
	}
	if e.Before.Sequence < e.ID.Sequence {
		return fmt.Sprintf("epoch %d of the log begins with record %d: the log was restored from a copy, or the cluster from a backup",
			e.ID.Log.Epoch, e.ID.Sequence)
	}
	return fmt.Sprintf("the log was restored: epoch %d begins with record %d; what epoch %d had from there on did not happen",
		e.ID.Log.Epoch, e.ID.Sequence, e.Before.Log.Epoch)
}

// eventJSON returns an event as a JSON object on one line. Characters that could control a terminal are escaped:
//
//	id         string    the same for duplicates of an event
//	cluster    string
//	job        object    namespace, name and uid of the event's Job or CronJob, as far as known
//	reasons    [string]  of a decision
//	omitted    [string]  "evidence", "facts": left out of an oversized message; the log has them
//	sequence … evidence  as recordjson.Record writes them
func eventJSON(cluster string, e *subscribe.Event) []byte {
	type job struct {
		Namespace string `json:"namespace,omitempty"`
		Name      string `json:"name,omitempty"`
		UID       string `json:"uid,omitempty"`
	}
	first := struct {
		ID      string   `json:"id"`
		Cluster string   `json:"cluster"`
		Job     job      `json:"job,omitzero"`
		Reasons []string `json:"reasons,omitempty"`
		Omitted []string `json:"omitted,omitempty"`
	}{ID: e.ID.String(), Cluster: cluster, Job: job{e.Job.Namespace, e.Job.Name, string(e.Job.UID)}}
	for _, r := range e.Reasons {
		first.Reasons = append(first.Reasons, string(r))
	}
	if e.EvidenceOmitted {
		first.Omitted = append(first.Omitted, "evidence")
	}
	if e.FactsOmitted {
		first.Omitted = append(first.Omitted, "facts")
	}
	b := recordjson.VisibleJSON([]byte(line(first)))
	record := recordjson.Record(&e.Record)
	return append(append(bytes.TrimSuffix(b, []byte("}")), ','), record[1:]...)
}

// line formats a value as JSON on one line.
func line(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	return string(text)
}

// tellUnreadable returns a function that reports messages that cannot be read. It passes over messages of other
// programs, and those whose number in the stream is in skip. Any other message contains a record and ends subscribe,
// because a program may be waiting for that record.
func tellUnreadable(c *cli.CLI, skip []uint) func(context.Context, jetstream.Msg, *subscribe.UnreadableError) error {
	return func(_ context.Context, _ jetstream.Msg, err *subscribe.UnreadableError) error {
		if err.ID != (nats.ID{}) && !slices.Contains(skip, uint(err.Place)) {
			return fmt.Errorf("%w; a newer jobledger may read it, and --skip %d passes over it", err, err.Place)
		}
		fmt.Fprintln(c.Err, "jobledger: "+words.Clean(err.Error())+"; it is passed over")
		return nil
	}
}

// tellTrouble returns a function that prints why no events come, each reason once, and that they come again.
func tellTrouble(c *cli.CLI, cluster string) func(error) {
	last := ""
	return func(err error) {
		text := ""
		if err != nil {
			text = err.Error()
		}
		switch {
		case text == last:
		case text == "":
			fmt.Fprintln(c.Err, "jobledger: events of cluster "+words.Clean(cluster)+" come again")
		default:
			fmt.Fprintln(c.Err, "jobledger: no events for now: "+words.Clean(text))
		}
		last = text
	}
}

// tellNotice prints a notice about the subscription.
func tellNotice(c *cli.CLI, n subscribe.Notice) {
	fmt.Fprintln(c.Err, "jobledger: "+words.Clean(n.String()))
}

// tellComplaint returns a function that prints what the server says about the connection, such as a missing right. It
// prints each text once.
func tellComplaint(c *cli.CLI) natsgo.ErrHandler {
	told := map[string]bool{} // no lock: one goroutine of the NATS client calls the function
	return func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) {
		if text := err.Error(); !told[text] {
			told[text] = true
			fmt.Fprintln(c.Err, "jobledger: the NATS server says: "+words.Clean(text))
		}
	}
}
