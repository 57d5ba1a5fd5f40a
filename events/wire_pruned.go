package events

import (
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

func prunedToWire(f *Pruned) *pb.Pruned {
	w := &pb.Pruned{
		First: uint64(f.First), From: uint64(f.From), FromTime: int64(f.FromTime), ThroughTime: int64(f.ThroughTime),
		ChainBefore: hashToWire(f.ChainBefore), ChainAfter: hashToWire(f.ChainAfter), Reason: pb.PruneReason(f.Reason),
	}
	for _, file := range f.Files {
		w.Files = append(w.Files, &pb.PrunedFile{First: uint64(file.First), Bytes: file.Bytes, Hash: hashToWire(file.Hash)})
	}
	for _, m := range f.Missed {
		w.Missed = append(w.Missed, &pb.Missed{Consumer: m.Consumer, From: uint64(m.From), Through: uint64(m.Through)})
	}
	return w
}

func prunedFromWire(w *pb.Pruned) *Pruned {
	f := &Pruned{
		First: Sequence(w.GetFirst()), From: Sequence(w.GetFrom()), FromTime: Time(w.GetFromTime()), ThroughTime: Time(w.GetThroughTime()),
		ChainBefore: hashFromWire(w.GetChainBefore()), ChainAfter: hashFromWire(w.GetChainAfter()), Reason: PruneReason(w.GetReason()),
	}
	for _, file := range w.GetFiles() {
		f.Files = append(f.Files, PrunedFile{First: Sequence(file.GetFirst()), Bytes: file.GetBytes(), Hash: hashFromWire(file.GetHash())})
	}
	for _, m := range w.GetMissed() {
		f.Missed = append(f.Missed, Missed{Consumer: m.GetConsumer(), From: Sequence(m.GetFrom()), Through: Sequence(m.GetThrough())})
	}
	return f
}

// hashToWire encodes a hash as 32 bytes, and a zero hash as no bytes.
func hashToWire(h Hash) []byte {
	if h == (Hash{}) {
		return nil
	}
	return h[:]
}

func hashFromWire(b []byte) (h Hash) {
	copy(h[:], b)
	return h
}
