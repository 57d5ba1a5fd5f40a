package events

import pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"

func passedOverToWire(f *PassedOver) *pb.PassedOver {
	w := &pb.PassedOver{Since: int64(f.Since), Versions: f.Versions, Open: f.Open}
	for _, g := range f.Went {
		w.Went = append(w.Went, &pb.ObjectsWent{Resource: pb.ObjectResource(g.Resource), Objects: g.Objects})
	}
	return w
}

func passedOverFromWire(w *pb.PassedOver) *PassedOver {
	f := &PassedOver{Since: Time(w.GetSince()), Versions: w.GetVersions(), Open: w.GetOpen()}
	for _, g := range w.GetWent() {
		f.Went = append(f.Went, ObjectsWent{Resource: ObjectResource(g.GetResource()), Objects: g.GetObjects()})
	}
	return f
}
