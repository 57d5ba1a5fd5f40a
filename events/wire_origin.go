package events

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// OriginToWire translates the origin of a Job (its owner and labels) for a record or a stored state. Nil gives nil.
func OriginToWire(o *Origin) *pb.Origin {
	if o == nil {
		return nil
	}
	w := &pb.Origin{Kind: o.Kind, Name: o.Name, Uid: uidToWire(o.UID), GenerateName: o.GenerateName, Traceparent: o.Traceparent}
	for _, l := range o.Labels {
		w.Labels = append(w.Labels, &pb.Label{Name: l.Name, Value: l.Value})
	}
	return w
}

// OriginFromWire decodes what OriginToWire made; nil for nil.
func OriginFromWire(w *pb.Origin) *Origin {
	if w == nil {
		return nil
	}
	o := &Origin{
		Kind: w.GetKind(), Name: w.GetName(), UID: uidFromWire(w.GetUid()), GenerateName: w.GetGenerateName(), Traceparent: w.GetTraceparent(),
	}
	for _, l := range w.GetLabels() {
		o.Labels = append(o.Labels, ObjectLabel{l.GetName(), l.GetValue()})
	}
	return o
}

func editToWire(e *Edit) *pb.Edit {
	if e == nil {
		return nil
	}
	return &pb.Edit{Manager: e.Manager, Operation: e.Operation, Time: int64(inSeconds(e.Time))}
}

// Origin and edit use the generated code, because they are rare: a Job records its origin once, and few of its records
// have an edit.

// merged joins the occurrences of a message field in one record, as protobuf does.
func merged(before, more []byte) []byte {
	if before == nil {
		before = []byte{}
	}
	return append(before, more...)
}

func decodeOrigin(b []byte, err *error) *Origin {
	var w pb.Origin
	*err = proto.Unmarshal(b, &w)
	return OriginFromWire(&w)
}

func decodeEdit(b []byte, err *error) *Edit {
	var w pb.Edit
	*err = proto.Unmarshal(b, &w)
	return &Edit{Manager: w.GetManager(), Operation: w.GetOperation(), Time: fromSeconds(uint64(w.GetTime()))}
}

// appendMessage encodes m into a buffer of its own. Encoding into buf would move every buffer to the heap, even without
// a message.
func appendMessage(buf []byte, n protowire.Number, m proto.Message, err *error) []byte {
	encoded, failed := deterministic.Marshal(m)
	if failed != nil {
		*err = failed
		return buf
	}
	return protowire.AppendBytes(protowire.AppendTag(buf, n, protowire.BytesType), encoded)
}
