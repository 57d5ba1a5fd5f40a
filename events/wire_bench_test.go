package events

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// BenchmarkByHand shows why header and evidence are translated without generated messages. It measures both ways for a
// pod's record: processor time with the garbage collector's, and allocations.
func BenchmarkByHand(b *testing.B) {
	const n = 20_000
	h := Header{
		Sequence: 4711, Time: 1_774_000_000_000_000_000, Previous: 4700, Causes: []Sequence{4702}, Kind: KindPodChanged, Critical: true,
		Stream: JobStream("0d8f5c7e-4a53-4a0e-9f70-2f6cf3a5c1de"),
	}
	e := Evidence{Namespace: "default", Name: "large-x7k2p", Node: "node-17"}
	header, _ := deterministic.Marshal(pbHeader(&h))
	evidence, _ := deterministic.Marshal(pbEvidence(&e, nil))
	ways := []struct {
		name           string
		decode, encode func()
	}{
		{"hand", func() {
			if _, err := decodeHeader(header); err != nil {
				b.Fatal(err)
			}
			if _, _, err := decodeEvidence(evidence); err != nil {
				b.Fatal(err)
			}
		}, func() {
			buffer := appendHeader(make([]byte, 0, commonBytes), &h)
			if _, err := appendEvidence(buffer, &e, nil); err != nil {
				b.Fatal(err)
			}
		}},
		{"generated", func() {
			var wh pb.Header
			var we pb.Evidence
			if proto.Unmarshal(header, &wh) != nil || proto.Unmarshal(evidence, &we) != nil {
				b.Fatal("it cannot be read")
			}
			got := Header{Stream: Stream{Kind: StreamKind(wh.GetStream().GetKind())}, Causes: make([]Sequence, len(wh.GetCauses()))}
			got.Stream.ID = streamIDFromWire(got.Stream.Kind, wh.GetStream().GetId())
		}, func() {
			buffer, err1 := deterministic.MarshalAppend(make([]byte, 0, commonBytes), pbHeader(&h))
			if _, err2 := deterministic.MarshalAppend(buffer, pbEvidence(&e, nil)); err1 != nil || err2 != nil {
				b.Fatal(err1, err2)
			}
		}},
	}
	repeat := func(work func()) func() {
		return func() {
			for range n {
				work()
			}
		}
	}
	b.Run("decode", func(b *testing.B) {
		sidebyside.Compare(b, "record", sidebyside.Computing("hand", n, repeat(ways[0].decode)), sidebyside.Computing("generated", n, repeat(ways[1].decode)))
		for _, way := range ways {
			b.ReportMetric(testing.AllocsPerRun(100, way.decode), way.name+"-allocs/record")
		}
	})
	b.Run("encode", func(b *testing.B) {
		sidebyside.Compare(b, "record", sidebyside.Computing("hand", n, repeat(ways[0].encode)), sidebyside.Computing("generated", n, repeat(ways[1].encode)))
		for _, way := range ways {
			b.ReportMetric(testing.AllocsPerRun(100, way.encode), way.name+"-allocs/record")
		}
	})
}
