package permit_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/permit"
	"github.com/jobledger/jobledger/internal/say/words"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store"
)

// TestANamespaceMadeAgainDoesNotReadItsPredecessor: of two namespaces of one name the one that is there shows its own
// Jobs. It is the recorded log, as if the namespace had been made right after its first Job.
func TestANamespaceMadeAgainDoesNotReadItsPredecessor(t *testing.T) {
	r := openRecorded(t, "../../../examples/incidents/delegated/log")
	ctx := t.Context()
	older, newer := 0, 0
	for _, space := range r.spaces {
		rows, err := r.local.Jobs(ctx, history.JobsQuery{Namespace: space})
		if err != nil {
			t.Fatal(err)
		}
		first := events.Time(0)
		for _, j := range rows.Items {
			if made := events.Time(j.Created); first == 0 || made < first {
				first = made
			}
		}
		since := first.Add(time.Second)
		src := permit.Namespace(r.local, permit.Right{Namespace: space, Since: since})
		page, err := src.Jobs(ctx, history.JobsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{}
		for _, j := range page.Items {
			told[j.UID] = true
		}
		for _, j := range rows.Items {
			stream := events.Stream{Kind: events.StreamJob, ID: j.UID}
			found, err := src.Find(ctx, space, j.Name)
			if err != nil {
				t.Fatal(err)
			}
			inFind := false
			for _, s := range found {
				inFind = inFind || s == stream
			}
			n := 0
			for rec, err := range src.ReadStream(ctx, stream, 0, store.Forward) {
				if err != nil {
					t.Fatal(err)
				}
				if rec.Stream != stream {
					t.Errorf("a record of %s is in the stream of %s", rec.Stream, stream)
				}
				n++
			}
			_, stateErr := history.JobAt(ctx, src, stream, history.Point{})
			may := events.Time(j.Created) >= since
			if told[j.UID] != may || inFind != may || n > 0 != may || stateErr == nil != may {
				t.Errorf("%s/%s, made %s, with a namespace of %s: in the list %t, found %t, %d records, state %v; want all %t",
					space, j.Name,
					words.Zone{}.Second(events.Time(j.Created)), words.Zone{}.Second(since), told[j.UID], inFind, n, stateErr, may)
			}
			if may {
				newer++
			} else {
				older++
			}
		}
	}
	if older == 0 || newer == 0 {
		t.Errorf("%d Jobs are of the namespaces before, and %d of those that are there: both are wanted", older, newer)
	}
}

// faked is a log with records of the controller that name objects of two namespaces.
type faked struct {
	store.Reader
	more []events.Record
}

func (f faked) ReadStream(
	ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction,
) iter.Seq2[events.Record, error] {
	if s != events.Controller {
		return f.Reader.ReadStream(ctx, s, from, dir)
	}
	return func(yield func(events.Record, error) bool) {
		for _, r := range f.more {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// TestTheControllerTellsNothingOfOthers: records of the controller are without what they say of other namespaces.
func TestTheControllerTellsNothingOfOthers(t *testing.T) {
	r := openRecorded(t, "../../../examples/incidents/delegated/log")
	mine, other := r.spaces[0], r.spaces[1]
	state, err := proto.Marshal(&pb.WorldState{
		LogId: "log", Shares: []*pb.ShareState{{Namespace: other}, {Namespace: mine}},
		Specs:      []*pb.SpecState{{Spec: &pb.JobSpec{Hash: "specofother"}}},
		Namespaces: []*pb.NamespaceSeen{{Name: other}, {Name: mine}},
		RivalActs:  []*pb.RivalAct{{Job: []byte("0123456789abcdef")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var theirs, ours events.Stream
	for s, space := range r.of {
		switch {
		case s.Kind == events.StreamJob && space == other:
			theirs = s
		case s.Kind == events.StreamJob && space == mine:
			ours = s
		}
	}
	said := events.Evidence{Sentence: "pod " + other + "/x was made by another"}
	acts := []events.RivalAct{{Job: uid(theirs)}, {Job: uid(ours)}}
	log := faked{r.log, []events.Record{
		record(1, events.KindPassedOver, &events.PassedOver{Versions: 1}, events.Evidence{Namespace: other}),
		record(2, events.KindPassedOver, &events.PassedOver{Versions: 2}, events.Evidence{Namespace: mine}),
		record(3, events.KindPassedOver, &events.PassedOver{Versions: 3}, events.Evidence{}),
		record(4, events.KindNamespaceChanged, &events.NamespaceSeen{Name: other}, events.Evidence{}),
		record(5, events.KindNamespaceChanged, &events.NamespaceSeen{Name: mine}, events.Evidence{}),
		record(6, events.KindRivalFound, &events.RivalFound{Acts: acts}, said),
		record(7, events.KindLossFound, &events.LossFound{Loss: events.Loss{Job: uid(theirs), Pod: "pod"}},
			events.Evidence{}),
		record(8, events.KindStateStored, &events.StoredState{Encoded: state}, events.Evidence{State: []byte(other)}),
	}}
	src := permit.Namespace(history.Local{Log: log, Lists: joblist.New(joblist.Config{Log: log})},
		permit.Right{Namespace: mine})
	var got []events.Sequence
	for rec, err := range src.ReadStream(t.Context(), events.Controller, 0, store.Forward) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.Sequence)
		stored, err := events.AppendRecord(nil, &rec)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{other, theirs.ID, "specofother", "0123456789abcdef"} {
			if text = strings.TrimSpace(text); strings.Contains(string(stored), text) {
				t.Errorf("record %d, %s, names %q, of another namespace", rec.Sequence, rec.Kind, text)
			}
		}
		if f, is := rec.Facts.(*events.RivalFound); is && (len(f.Acts) != 1 || f.Acts[0].Job != uid(ours)) {
			t.Errorf("the acts of another controller are %v, want the one on our Job", f.Acts)
		}
		if f, is := rec.Facts.(*events.LossFound); is && (f.Loss.Job != "" || f.Loss.Pod != "") {
			t.Errorf("the loss names %v", f.Loss)
		}
	}
	want := []events.Sequence{2, 3, 5, 6, 7, 8}
	if len(got) != len(want) {
		t.Fatalf("the records %v may be read, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the records %v may be read, want %v", got, want)
		}
	}
}

func uid(s events.Stream) types.UID { return types.UID(s.ID) }

func record(at events.Sequence, kind events.Kind, facts events.Facts, evidence events.Evidence) events.Record {
	return events.Record{
		Header: events.Header{Sequence: at, Time: 1, Stream: events.Controller, Kind: kind}, Facts: facts, Evidence: evidence,
	}
}

// TestAnAnswerAsOfARecordOfAnother: the number of each record of the log is a point of its history, also of one that is
// left out. So the record that an answer names, as of which it is, can be asked for again.
func TestAnAnswerAsOfARecordOfAnother(t *testing.T) {
	r := openRecorded(t, "../../../examples/incidents/delegated/log")
	space := r.spaces[0]
	src := permit.Namespace(r.local, permit.Right{Namespace: space})
	page, err := src.Jobs(t.Context(), history.JobsQuery{Limit: 1})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(page.Items), err)
	}
	job := events.Stream{Kind: events.StreamJob, ID: page.Items[0].UID}
	hidden := 0
	for rec, err := range r.log.Read(t.Context(), events.Sequence(page.Items[0].Last)) {
		if err != nil {
			t.Fatal(err)
		}
		if r.of[rec.Stream] == "" || r.of[rec.Stream] == space || hidden == 5 {
			continue
		}
		hidden++
		if _, err := history.Record(t.Context(), src, rec.Sequence); err == nil {
			t.Errorf("record %d of %s is let through", rec.Sequence, r.of[rec.Stream])
		}
		state, err := history.JobAt(t.Context(), src, job, history.Point{Sequence: rec.Sequence})
		if err != nil || state.AsOf.Sequence != uint64(rec.Sequence) || events.Time(state.AsOf.Time) > rec.Time {
			t.Errorf("as of record %d of another: record %d, %v", rec.Sequence, state.AsOf.Sequence, err)
		}
	}
	if hidden == 0 {
		t.Error("no record of another comes behind the Job's: there is nothing to try")
	}
}
