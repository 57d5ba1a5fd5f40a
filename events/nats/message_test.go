package nats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

var (
	life = events.Identity{LogID: "5b9e0c1d2f3a44556677889900aabbcc", Epoch: 1}
	demo = events.JobRef{Namespace: "prod", Name: "etl.v2", UID: "0e8b7a66-5544-4332-a110-ffeeddccbbaa"}
)

func head(s events.Sequence, stream events.Stream, kind events.Kind) events.Header {
	return events.Header{
		Sequence: s, Time: 1794000000123456789, Stream: stream, Previous: s - 1, Kind: kind, Critical: kind.Critical(), Last: true,
	}
}

// samples are records whose parts differ in what they have.
func samples() []events.Record {
	decided := head(42, events.JobStream(demo.UID), events.KindDecided)
	decided.Causes = []events.Sequence{40, 41}
	return []events.Record{
		{Header: head(1, events.Controller, events.KindLogCreated), Facts: &events.LogCreated{LogID: life.LogID, Epoch: 1, Format: 1}},
		{Header: head(7, events.NamespaceStream("prod"), events.KindPodDeleted), Facts: &events.PodGone{UID: "p1", Version: 3}},
		{
			Header: decided,
			Facts: &events.Decision{RulesVersion: 1, Steps: []events.Step{
				{Stage: "pods", Rule: "create", Reason: "MorePodsWanted", Sentence: "two are wanted", Commands: []events.Command{
					&events.CreatePod{Ordinal: 4, Index: events.NoIndex, Template: "7e"},
				}},
				{Stage: "status", Rule: "write", Reason: "Progress", Commands: []events.Command{&events.WriteStatus{
					Base: 12, Change: events.StatusChange{Conditions: []events.JobCondition{{Type: "Complete", Status: "True", Message: "done"}}},
				}}},
			}},
		},
		{
			Header: head(43, events.JobStream(demo.UID), events.KindPodChanged),
			Facts:  &events.PodSeen{UID: "p1", Version: 8, Phase: events.PodFailed, Created: 2e9, Index: 0, Exits: []events.ContainerExit{{Name: "main", Code: 3}}},
			Evidence: events.Evidence{Name: "etl.v2-x", Containers: []events.ContainerEnd{
				{Name: "main", ExitCode: 3, Message: "\x1b[31mboom\x1b[0m <script>\r\nce-id: forged"},
			}},
		},
		{Header: head(44, events.JobStream(demo.UID), events.KindJobResumed), Facts: &events.JobResumed{}},
		{Header: head(45, events.JobStream(demo.UID), events.KindPodChanged), Facts: &events.Erased{}},
		{Header: head(46, events.JobStream(demo.UID), 77), Facts: &events.Unknown{Bytes: []byte{0xff, 2}}},
		{
			Header: head(47, events.JobStream(demo.UID), events.KindJobRetired),
			Facts: &events.JobRetired{
				Result: events.ResultFailed, Reason: "BackoffLimitExceeded", Failed: 3, Started: 1793999964e9, Finished: 1794000000e9,
			},
			Evidence: events.Evidence{
				Message:  "Job has reached the specified backoff limit",
				Sentence: "FAILED after 36 s: all 3 tries exited 3 (container main); backoffLimit is 2",
			},
		},
	}
}

// TestTheFormOfAMessageIsForEver shows whole messages. Subscribers in every language depend on this form.
func TestTheFormOfAMessageIsForEver(t *testing.T) {
	var text strings.Builder
	for _, contentType := range []string{nats.JSON, nats.Protobuf} {
		e := nats.Encoder{Cluster: "eu 1", ContentType: contentType, Chain: &events.Hash{}}
		for _, r := range samples() {
			m, err := e.Encode(&r, life, demo, 1)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%s\n", m.Subject)
			for _, name := range slices.Sorted(maps.Keys(m.Header)) {
				fmt.Fprintf(&text, "  %s: %s\n", name, strings.Join(m.Header[name], "; "))
			}
			if contentType == nats.JSON {
				fmt.Fprintf(&text, "  %s\n", m.Data)
			} else {
				fmt.Fprintf(&text, "  %x\n", m.Data)
			}
		}
	}
	file := filepath.Join("testdata", "messages.txt")
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("messages changed (-want +got):\n%s", diff)
	}
}

func TestAMessageIsReadBackExactly(t *testing.T) {
	for _, contentType := range []string{nats.Protobuf, nats.JSON} {
		e := nats.Encoder{Cluster: "eu 1", ContentType: contentType}
		for _, r := range append(samples(), busy(t)...) {
			m, err := e.Encode(&r, life, demo, 9)
			if err != nil {
				t.Fatal(err)
			}
			got, err := nats.Decode(&m)
			if err != nil {
				t.Fatalf("record %d as %s: %v", r.Sequence, contentType, err)
			}
			if diff := cmp.Diff(r, got.Record); diff != "" {
				t.Fatalf("record %d as %s (-want +got):\n%s", r.Sequence, contentType, diff)
			}
			if got.Stream != r.Stream || got.Previous != r.Previous || got.Floor != 9 || got.Time != r.Time ||
				got.ID != (nats.ID{Log: life, Sequence: r.Sequence}) {
				t.Fatalf("record %d: the head says %+v", r.Sequence, got.Head)
			}
			if diff := cmp.Diff(r.Causes, got.Causes); diff != "" {
				t.Fatalf("record %d: causes (-want +got):\n%s", r.Sequence, diff)
			}
		}
	}
}

// TestAnyProtobufLibraryReadsTheData reads the data with the generated code, as a subscriber in another language does.
func TestAnyProtobufLibraryReadsTheData(t *testing.T) {
	binary, text := nats.Encoder{Cluster: "c"}, nats.Encoder{Cluster: "c", ContentType: nats.JSON}
	for _, r := range append(samples(), busy(t)...) {
		var got, same pb.PublishedRecord
		m, err := binary.Encode(&r, life, demo, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(m.Data, &got); err != nil || len(got.ProtoReflect().GetUnknown()) > 0 {
			t.Fatalf("record %d: %v, unknown %x", r.Sequence, err, got.ProtoReflect().GetUnknown())
		}
		facts := got.ProtoReflect().WhichOneof(got.ProtoReflect().Descriptor().Oneofs().ByName("facts"))
		switch _, erased := r.Facts.(*events.Erased); {
		case erased || !r.Kind.Known():
			if facts != nil || erased != got.GetFactsErased() || erased == (len(got.GetUnknownFacts()) > 0) {
				t.Errorf("%s has facts %v", r.Kind, &got)
			}
		case facts == nil || int(facts.Number()) != 100+int(r.Kind):
			t.Errorf("%s has its facts in %v", r.Kind, facts)
		}
		if got.GetHeader().GetSequence() != uint64(r.Sequence) {
			t.Errorf("record %d: header %v", r.Sequence, got.GetHeader())
		}
		m, err = text.Encode(&r, life, demo, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := protojson.Unmarshal(m.Data, &same); err != nil || !proto.Equal(&got, &same) {
			t.Fatalf("record %d: JSON says %v, %v; protobuf %v", r.Sequence, &same, err, &got)
		}
		if !json.Valid(m.Data) || bytes.Contains(m.Data, []byte("\n")) {
			t.Errorf("record %d: the JSON is not one line: %s", r.Sequence, m.Data)
		}
	}
}

func TestEveryKindHasAFieldForItsFacts(t *testing.T) {
	fields := (&pb.PublishedRecord{}).ProtoReflect().Descriptor().Fields()
	for number := range 100 {
		if kind := events.Kind(number); kind.Known() && fields.ByNumber(protoreflect.FieldNumber(100+number)) == nil {
			t.Errorf("PublishedRecord has no field %d for %s", 100+number, kind)
		}
	}
}

func TestWhatDoesNotFitIsLeftOutAndSaidToBe(t *testing.T) {
	r := samples()[3]
	r.Evidence.Message = strings.Repeat("x", 5000)
	r.Facts.(*events.PodSeen).Conditions = []events.PodCondition{{Type: strings.Repeat("y", 3000), Status: "True"}}
	for _, row := range []struct {
		sentence        string
		bytes           int
		evidence, facts bool
		refused         bool
	}{
		{"all of it fits", 10_000, false, false, false},
		{"without evidence it fits", 4500, true, false, false},
		{"only the headers fit", 1500, true, true, false},
		{"nothing fits", 100, false, false, true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			e := nats.Encoder{Cluster: "c", MaxBytes: row.bytes}
			m, err := e.Encode(&r, life, demo, 1)
			if row.refused {
				if err == nil {
					t.Fatalf("a message of %d bytes was made", len(m.Data))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := nats.Decode(&m)
			if err != nil || got.EvidenceOmitted != row.evidence || got.FactsOmitted != row.facts {
				t.Fatalf("omitted evidence %t, facts %t (%v)", got.EvidenceOmitted, got.FactsOmitted, err)
			}
			if (got.Record.Facts == nil) != row.facts || (got.Record.Evidence.Message == "") != row.evidence {
				t.Errorf("the record holds %+v", got.Record)
			}
			if got.Job != demo {
				t.Errorf("it is about %+v", got.Job)
			}
		})
	}
}

func TestADamagedMessageIsRefused(t *testing.T) {
	encode := func() nats.Message {
		e := nats.Encoder{Cluster: "c"}
		r := samples()[2]
		m, err := e.Encode(&r, life, demo, 1)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for sentence, damage := range map[string]func(*nats.Message){
		"another subject":              func(m *nats.Message) { m.Subject = "orders.new" },
		"no ID":                        func(m *nats.Message) { delete(m.Header, nats.HeaderID) },
		"a sequence unlike the ID's":   func(m *nats.Message) { m.Header[nats.HeaderSequence][0] = "00000000000000000041" },
		"another version of the spec":  func(m *nats.Message) { m.Header[nats.HeaderSpecVersion][0] = "0.3" },
		"no stream":                    func(m *nats.Message) { m.Header[nats.HeaderStream][0] = "jobs/x" },
		"no time":                      func(m *nats.Message) { m.Header[nats.HeaderTime][0] = "yesterday" },
		"no number":                    func(m *nats.Message) { m.Header[nats.HeaderPrevious][0] = "-1" },
		"data of another type":         func(m *nats.Message) { m.Header[nats.HeaderContentType][0] = "text/html" },
		"data cut short":               func(m *nats.Message) { m.Data = m.Data[:len(m.Data)-1] },
		"no data":                      func(m *nats.Message) { m.Data = nil },
		"bytes that are no UTF-8":      func(m *nats.Message) { m.Header[nats.HeaderStream][0] = "job/%C0%A0" },
		"the data of another record":   func(m *nats.Message) { setID(m, 43) },
		"protobuf that says it's JSON": func(m *nats.Message) { m.Header[nats.HeaderContentType][0] = nats.JSON },
	} {
		m := encode()
		damage(&m)
		if got, err := nats.Decode(&m); err == nil {
			t.Errorf("a message with %s is read as %+v", sentence, got)
		}
	}
}

func setID(m *nats.Message, s events.Sequence) {
	m.Header[nats.HeaderID][0] = nats.ID{Log: life, Sequence: s}.String()
	m.Header[nats.HeaderSequence][0] = fmt.Sprintf("%020d", s)
}

func TestOtherSendersMayQuoteHeaders(t *testing.T) {
	e := nats.Encoder{Cluster: "c"}
	r := samples()[2]
	m, err := e.Encode(&r, life, demo, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Header[nats.HeaderStream][0] = `"job/0e8b7a66\-5544-4332-a110-ffeeddccbbaa"`
	m.Header[nats.HeaderReasons][0] = "Mor%65PodsWanted,Progress"
	if got, err := nats.Decode(&m); err != nil || got.Stream != r.Stream || got.Reasons[0] != "MorePodsWanted" {
		t.Errorf("read as %+v, %v", got.Head, err)
	}
}

func TestARestoredLogHasOtherIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range []nats.ID{
		{Log: life, Sequence: 42},
		{Log: events.Identity{LogID: life.LogID, Epoch: 2}, Sequence: 42},
		{Log: events.Identity{LogID: "another", Epoch: 1}, Sequence: 42},
		{Log: events.Identity{LogID: life.LogID, Epoch: 14}, Sequence: 2},
	} {
		text := id.String()
		if seen[text] {
			t.Errorf("%s twice", text)
		}
		seen[text] = true
		if got, err := nats.ParseID(text); err != nil || got != id {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "a", "a.1", "a.1.2.3", ".1.2", "a.01.2", "a.1.-2", "a.1.x", "a\x1b[2J.1.2", "a\x00.1.2", "a b.1.2"} {
		if got, err := nats.ParseID(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// TestAMessageHoldsAllThatTheChainTakesIn: each record can be written again as in the log. The chain value of a message
// can be computed from that of the message before.
func TestAMessageHoldsAllThatTheChainTakesIn(t *testing.T) {
	all := append(samples(), busy(t)...)
	digest := events.Hash{9}
	all = append(all, events.Record{Header: head(9000, events.JobStream(demo.UID), events.KindPodChanged), Facts: &events.Erased{Digest: events.Hash{8}}, EvidenceDigest: &digest})
	for _, row := range []struct {
		contentType string
		maxBytes    int
	}{{nats.Protobuf, 0}, {nats.JSON, 0}, {nats.Protobuf, 1200}} {
		chain, omitted := events.Hash{7}, 0
		e := nats.Encoder{Cluster: "c", ContentType: row.contentType, MaxBytes: row.maxBytes, Chain: &chain}
		want := chain
		for _, r := range all {
			if erased, ok := r.Facts.(*events.Erased); ok && erased.Digest == (events.Hash{}) {
				continue // its digest in the chain is unknown
			}
			stored, err := events.AppendRecord(nil, &r)
			if err != nil {
				t.Fatal(err)
			}
			before := want
			if want, err = want.Next(stored); err != nil {
				t.Fatal(err)
			}
			m, err := e.Encode(&r, life, demo, 1)
			if err != nil {
				t.Fatal(err)
			}
			got, err := nats.Decode(&m)
			if err != nil {
				t.Fatal(err)
			}
			if after, known := got.ChainAfter(before); !known || after != want || got.Chain != want {
				t.Fatalf("record %d (%s) as %s: the chain is %s (%t), the header says %s, want %s",
					r.Sequence, r.Kind, row.contentType, after, known, got.Chain, want)
			}
			if got.FactsOmitted || got.EvidenceOmitted {
				omitted++
				continue
			}
			if again, err := events.AppendRecord(nil, &got.Record); err != nil || !bytes.Equal(again, stored) {
				t.Fatalf("record %d (%s) as %s is written again as\n%x (%v), want\n%x", r.Sequence, r.Kind, row.contentType, again, err, stored)
			}
		}
		if (omitted > 0) != (row.maxBytes > 0) {
			t.Errorf("of %d messages something was omitted", omitted)
		}
	}
}

// TestMessagesWithoutSaltsAreRead, and nothing is concluded from their absence.
func TestMessagesWithoutSaltsAreRead(t *testing.T) {
	e := nats.Encoder{Cluster: "c"}
	for _, r := range samples() {
		m, err := e.Encode(&r, life, demo, 1)
		if err != nil {
			t.Fatal(err)
		}
		var old pb.PublishedRecord
		if err := proto.Unmarshal(m.Data, &old); err != nil {
			t.Fatal(err)
		}
		old.FactsSalt, old.EvidenceSalt, old.FactsDigest, old.EvidenceDigest = nil, nil, nil, nil
		if m.Data, err = proto.Marshal(&old); err != nil {
			t.Fatal(err)
		}
		got, err := nats.Decode(&m)
		if err != nil {
			t.Fatal(err)
		}
		_, known := got.ChainAfter(events.Hash{})
		_, erased := r.Facts.(*events.Erased)
		parts, _, err := events.EncodeParts(nil, &r)
		if whole := err == nil && !erased && len(parts.Facts) == 0 && len(parts.Evidence) == 0; known != whole || got.Chain != (events.Hash{}) {
			t.Errorf("%s: a chain value is known: %t, want %t; the header says %s", r.Kind, known, whole, got.Chain)
		}
		want := r
		want.FactsSalt, want.EvidenceSalt = events.Salt{}, events.Salt{}
		if diff := cmp.Diff(want, got.Record); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Kind, diff)
		}
	}
}

// TestMessagesOfBeforeAreRefused with one sentence, although the rest of their form is the same.
func TestMessagesOfBeforeAreRefused(t *testing.T) {
	const want = "this message was written by a jobledger of before the first release, and this one does not read it: " +
		"begin at a message behind it, or delete the stream, and it is made again"
	all := natstest.Before(t)
	for _, kept := range all {
		m := nats.Message{Subject: kept.Subject, Header: kept.Header, Data: kept.Data}
		if _, err := nats.Decode(&m); !errors.Is(err, events.ErrBefore) || err.Error() != want {
			t.Errorf("%s: %v", m.Subject, err)
		}
		m.Header[nats.HeaderFormat] = []string{"1"}
		if _, err := nats.Decode(&m); err != nil {
			t.Errorf("%s with today's mark: %v", m.Subject, err)
		}
		m.Header[nats.HeaderFormat] = []string{"2"}
		if _, err := nats.Decode(&m); err == nil || errors.Is(err, events.ErrBefore) {
			t.Errorf("%s of a format to come: %v", m.Subject, err)
		}
	}
	if len(all) == 0 {
		t.Error("no message was kept")
	}
}

// TestARecordOfAPublisherToComeIsNotCalledForged: its JSON has fields that are unknown here, so the chain is not
// judged.
func TestARecordOfAPublisherToComeIsNotCalledForged(t *testing.T) {
	e := nats.Encoder{Cluster: "c", ContentType: nats.JSON}
	r := samples()[3]
	m, err := e.Encode(&r, life, demo, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Data = bytes.Replace(m.Data, []byte(`"phase":`), []byte(`"mood":"good","phase":`), 1)
	got, err := nats.Decode(&m)
	if err != nil {
		t.Fatal(err)
	}
	if after, known := got.ChainAfter(events.Hash{}); known {
		t.Errorf("the chain is said to be %s", after)
	}
}

// busy is the log of a busy cluster.
func busy(t testing.TB) []events.Record {
	t.Helper()
	log := memlog.New(life)
	if _, err := joblog.Write(log, joblog.Busy(2000)); err != nil {
		t.Fatal(err)
	}
	var all []events.Record
	for r, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// TestAMessageSaysHowAJobEnded: subscribers read the verdict without the data, and only of a Job that retires.
func TestAMessageSaysHowAJobEnded(t *testing.T) {
	e := nats.Encoder{Cluster: "eu 1"}
	verdict := "FAILED after 36 s: reason 100% \"odd\""
	for _, row := range []struct {
		sentence string
		record   events.Record
		want     string
	}{
		{"a Job that retires", events.Record{
			Header: head(47, events.JobStream(demo.UID), events.KindJobRetired), Facts: &events.JobRetired{}, Evidence: events.Evidence{Sentence: verdict},
		}, verdict},
		{"a decision, with the same encoder", events.Record{
			Header: head(48, events.JobStream(demo.UID), events.KindDecided), Facts: &events.Decision{}, Evidence: events.Evidence{Sentence: verdict},
		}, ""},
		{"the evidence was erased", events.Record{Header: head(49, events.JobStream(demo.UID), events.KindJobRetired), Facts: &events.JobRetired{}}, ""},
		{"a text of another program that is too long for a header", events.Record{
			Header: head(50, events.JobStream(demo.UID), events.KindJobRetired), Facts: &events.JobRetired{}, Evidence: events.Evidence{Sentence: strings.Repeat("x", 1e6)},
		}, ""},
	} {
		m, err := e.Encode(&row.record, life, demo, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := nats.Decode(&m); err != nil || got.Verdict != row.want {
			t.Errorf("%s: %q, %v; want %q", row.sentence, got.Verdict, err, row.want)
		}
	}
}
