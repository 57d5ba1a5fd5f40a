package events

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// TestHeaderAndEvidenceAreWhatTheGeneratedCodeSays compares our decoding with that of the generated messages, on random
// records, whole and damaged.
func TestHeaderAndEvidenceAreWhatTheGeneratedCodeSays(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d: "+format, append([]any{seed}, args...)...)
	}
	for range 500 {
		h, e, texts := randomHeader(rng), randomEvidence(rng), []string{"", strings.Repeat("x", rng.IntN(3))}
		header := appendHeader(nil, &h)
		if want := generated(t, pbHeader(&h)); !bytes.Equal(header, want) {
			fail("header %+v\nis encoded as %x,\nwant %x", h, header, want)
		}
		evidence, err := appendEvidence(nil, &e, texts)
		if want := generated(t, pbEvidence(&e, texts)); err != nil || !bytes.Equal(evidence, want) {
			fail("evidence %+v %q\nis encoded as %x, %v,\nwant %x", e, texts, evidence, err, want)
		}
		for range 20 {
			compareHeader(fail, damaged(rng, header))
			compareEvidence(fail, damaged(rng, evidence))
		}
		compareHeader(fail, header)
		compareEvidence(fail, evidence)
	}
}

func generated(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := deterministic.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func pbHeader(h *Header) *pb.Header {
	w := &pb.Header{
		Sequence: uint64(h.Sequence), TimeUnixNano: int64(h.Time), Previous: uint64(h.Previous), Kind: pb.Kind(h.Kind),
		Stream:   &pb.Stream{Kind: pb.StreamKind(h.Stream.Kind), Id: streamIDToWire(h.Stream)},
		Critical: h.Critical, EndOfBatch: h.Last,
	}
	for _, c := range h.Causes {
		w.Causes = append(w.Causes, uint64(c))
	}
	return w
}

func pbEvidence(e *Evidence, texts []string) *pb.Evidence {
	w := &pb.Evidence{
		Namespace: e.Namespace, Name: e.Name, Node: e.Node, Reason: e.Reason, Message: e.Message,
		Sentence: e.Sentence, Template: e.Template, State: e.State, Owner: e.Owner, PassedOver: e.PassedOver,
		Running: int64(inSeconds(e.Running)), Finalizers: e.Finalizers, Origin: OriginToWire(e.Origin), Edit: editToWire(e.Edit),
		Admitted: e.Admitted,
	}
	if anyText(texts) {
		w.Texts = texts
	}
	for _, c := range e.Containers {
		w.Containers = append(w.Containers, &pb.ContainerEnd{
			Name: c.Name, ExitCode: c.ExitCode, Reason: c.Reason, Message: c.Message, Kind: pb.ContainerKind(c.Kind),
			Started: int64(inSeconds(c.Started)), Finished: int64(inSeconds(c.Finished)), Restarts: c.Restarts, Again: c.Again,
		})
	}
	for _, c := range e.Conditions {
		w.Conditions = append(w.Conditions, &pb.ConditionText{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Since: int64(inSeconds(c.Since)),
		})
	}
	for _, c := range e.Waits {
		w.Waits = append(w.Waits, &pb.ContainerWait{Name: c.Name, Reason: c.Reason, Message: c.Message, Kind: pb.ContainerKind(c.Kind)})
	}
	return w
}

// compareHeader: we read a header if the generated code can read it and its values are valid, and then alike.
func compareHeader(fail func(string, ...any), b []byte) {
	got, err := decodeHeader(b)
	var w pb.Header
	bad := proto.Unmarshal(b, &w) != nil
	want := Header{
		Sequence: Sequence(w.GetSequence()), Time: Time(w.GetTimeUnixNano()), Previous: Sequence(w.GetPrevious()),
		Stream: Stream{Kind: StreamKind(w.GetStream().GetKind())}, Kind: Kind(w.GetKind()), Critical: w.GetCritical(), Last: w.GetEndOfBatch(),
	}
	want.Stream.ID = streamIDFromWire(want.Stream.Kind, w.GetStream().GetId())
	for _, c := range w.GetCauses() {
		want.Causes = append(want.Causes, Sequence(c))
	}
	bad = bad || want.Sequence == 0 || want.Kind == 0 || want.Stream.Kind == 0 || want.Previous >= want.Sequence || outside(&w)
	var twice *RangeError
	if again, _ := deterministic.Marshal(&w); !bad && errors.As(err, &twice) && !bytes.Equal(again, b) {
		return // a field stands in it twice: the last one counts, and each is checked
	}
	if bad != (err != nil) {
		fail("header %x: error %v, the generated code finds it bad: %v", b, err, bad)
	}
	if !bad && !reflect.DeepEqual(got, want) {
		fail("header %x\nis read as %+v\nwant %+v", b, got, want)
	}
	label, err := decodeLabel(b)
	if !bad && (err != nil || label != Label{Sequence: want.Sequence, Kind: want.Kind, Critical: want.Critical, Last: want.Last}) {
		fail("header %x: the label is read as %+v, %v\nwant that of %+v", b, label, err, want)
	}
}

// outside reports whether a number of the header is outside its range.
func outside(w *pb.Header) bool {
	const most = 1 << 62
	bad := w.GetTimeUnixNano() < int64(FirstTime) || w.GetTimeUnixNano() > int64(LastTime) || w.GetSequence() > most ||
		w.GetKind() < 0 || w.GetKind() > 1<<16-1 || w.GetStream().GetKind() < 0 || w.GetStream().GetKind() > 1<<8-1
	for _, c := range w.GetCauses() {
		bad = bad || c > most
	}
	return bad
}

func compareEvidence(fail func(string, ...any), b []byte) {
	got, texts, err := decodeEvidence(b)
	var w pb.Evidence
	if bad := proto.Unmarshal(b, &w) != nil; bad || err != nil {
		if bad != (err != nil) {
			fail("evidence %x: error %v, the generated code finds it bad: %v", b, err, bad)
		}
		return
	}
	if again, err := appendEvidence(nil, &got, texts); err != nil || !bytes.Equal(again, knownOf(&w)) {
		fail("evidence %x\nis read as %+v %q, %v\nwant %v", b, got, texts, err, &w)
	}
}

// knownOf returns the message without the parts that we do not read: unknown fields, times beyond the range of Time,
// kinds that do not fit into a byte, and texts that are all empty.
func knownOf(w *pb.Evidence) []byte {
	w = proto.CloneOf(w)
	w.ProtoReflect().SetUnknown(nil)
	seconds := func(s *int64) { *s = int64(inSeconds(fromSeconds(uint64(*s)))) }
	kind := func(k *pb.ContainerKind) { *k = pb.ContainerKind(ContainerKind(*k)) }
	seconds(&w.Running)
	for _, c := range w.GetContainers() {
		c.ProtoReflect().SetUnknown(nil)
		seconds(&c.Started)
		seconds(&c.Finished)
		kind(&c.Kind)
	}
	for _, c := range w.GetWaits() {
		c.ProtoReflect().SetUnknown(nil)
		kind(&c.Kind)
	}
	for _, c := range w.GetConditions() {
		c.ProtoReflect().SetUnknown(nil)
		seconds(&c.Since)
	}
	w.Origin = OriginToWire(OriginFromWire(w.GetOrigin()))
	if e := w.GetEdit(); e != nil {
		e.ProtoReflect().SetUnknown(nil)
		seconds(&e.Time)
	}
	if !anyText(w.GetTexts()) {
		w.Texts = nil
	}
	b, err := deterministic.Marshal(w)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

func damaged(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) > 0 {
		b[rng.IntN(len(b))] = byte(rng.Uint32())
		b = b[:len(b)-rng.IntN(2)*rng.IntN(len(b))]
	}
	return b
}

func randomHeader(rng *rand.Rand) Header {
	h := Header{
		Sequence: 1 + Sequence(rng.Uint64()>>rng.IntN(64)), Time: Time(rng.Uint64() >> rng.IntN(65)), Kind: Kind(1 + rng.IntN(1000)),
		Stream: Stream{Kind: StreamKind(1 + rng.IntN(4))}, Critical: rng.IntN(2) == 0, Last: rng.IntN(2) == 0,
	}
	h.Previous = Sequence(rng.Uint64N(uint64(h.Sequence)))
	switch rng.IntN(3) {
	case 0:
		h.Stream.ID = fmt.Sprintf("%08x-1234-4678-8abc-0123456789ab", rng.Uint32())
	case 1:
		h.Stream.ID = strings.Repeat("n", rng.IntN(200))
	}
	for range rng.IntN(3) * rng.IntN(40) {
		h.Causes = append(h.Causes, Sequence(rng.Uint64()>>rng.IntN(64)))
	}
	return h
}

func randomEvidence(rng *rand.Rand) Evidence {
	text := func() string {
		return strings.Repeat("é", rng.IntN(2)*rng.IntN(3)) + strings.Repeat("a", rng.IntN(2)*(1<<rng.IntN(9)))
	}
	second := func() Time { return Time(rng.Int64N(1<<33)-1<<31) * Time(time.Second) * Time(rng.IntN(2)) }
	e := Evidence{
		Sentence: strings.Repeat("long", rng.IntN(50)/49<<13), Namespace: text(), Name: text(), Node: text(), Reason: text(), Message: text(), Owner: text(),
		Template: []byte(text()), State: []byte(text()), PassedOver: rng.Uint64N(3), Running: second(),
	}
	for range rng.IntN(3) {
		e.Containers = append(e.Containers, ContainerEnd{
			Name: text(), ExitCode: int32(rng.Uint32()), Reason: text(), Message: text(), Kind: ContainerKind(rng.IntN(3)),
			Started: second(), Finished: second(), Restarts: rng.Uint32N(3), Again: rng.IntN(2) == 0,
		})
	}
	for range rng.IntN(3) {
		e.Conditions = append(e.Conditions, ConditionText{Type: text(), Status: text(), Reason: text(), Message: text(), Since: second()})
	}
	for range rng.IntN(3) {
		e.Waits = append(e.Waits, ContainerWait{Name: text(), Reason: text(), Message: text(), Kind: ContainerKind(rng.IntN(3))})
	}
	for range rng.IntN(3) {
		e.Finalizers = append(e.Finalizers, text())
	}
	for range rng.IntN(3) {
		e.Admitted = append(e.Admitted, text())
	}
	if rng.IntN(2) == 0 {
		e.Edit = &Edit{Manager: text(), Operation: text(), Time: second()}
		e.Origin = &Origin{Kind: text(), Name: text(), GenerateName: text(), Traceparent: text()}
		for range rng.IntN(3) {
			e.Origin.Labels = append(e.Origin.Labels, ObjectLabel{text(), text()})
		}
	}
	return e
}

func TestTextThatIsNotUTF8IsNotStored(t *testing.T) {
	r := Record{Header: Header{Sequence: 1, Stream: Controller, Kind: KindControllerStopped}, Facts: &ControllerStopped{}}
	r.Evidence.Message = "\xff"
	if _, err := AppendRecord(nil, &r); err == nil {
		t.Error("a message that is not UTF-8 was encoded")
	}
}
