package copylog_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
)

func hashOf(n byte) (h events.Hash) { h[0] = n; return h }

func headOf(n events.Sequence) store.Head {
	return store.Head{Sequence: n, Hash: hashOf(byte(n)), Time: events.Time(n) * 1e9}
}

func fileOf(first, last events.Sequence) copylog.File {
	return copylog.File{
		First: first, Before: hashOf(byte(first - 1)), End: headOf(last), Epoch: 1, Records: hashOf(200),
		Object: copylog.Object{Name: copylog.FileName(first, 1), Bytes: 1000, SHA256: hashOf(201)},
	}
}

func segmentOf(first, last events.Sequence) copylog.File {
	f := fileOf(first, last)
	f.Object.Name = copylog.SegmentName(first, 1)
	return f
}

func manifest() *copylog.Manifest {
	derived := fileOf(1, 20)
	derived.Derived = []copylog.Object{{Name: copylog.WithSuffix(copylog.FileName(1, 1), ".idx"), Bytes: 5, SHA256: hashOf(3)}}
	return &copylog.Manifest{
		Identity: events.Identity{LogID: "log", Epoch: 2}, Head: headOf(90), Written: 5, Writer: "v1", First: 41,
		Files:   []copylog.File{derived, fileOf(41, 60)},
		Partial: []copylog.Tail{{First: 21, Begin: []byte("begin"), Segments: []copylog.File{segmentOf(21, 25)}}},
		Holes:   []copylog.Hole{{From: 26, Through: 40}},
		Tail: &copylog.Tail{
			First: 61, Begin: []byte("begin"), Term: 3, Offsets: map[string]events.Sequence{"nats": 70},
			Segments: []copylog.File{segmentOf(61, 80), segmentOf(81, 90)},
		},
		Leaving: []copylog.Leaving{{Name: copylog.SegmentName(41, 1), Since: 7}},
		Kept:    []copylog.Kept{{Name: copylog.KeptName(60, 1), Epoch: 1, Head: headOf(60), Written: 4}},
		Key:     &copylog.Object{Name: copylog.KeyName, Bytes: 32, SHA256: hashOf(9)},
	}
}

func TestAManifestIsReadAsItWasWritten(t *testing.T) {
	m := manifest()
	content, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := copylog.Decode(content)
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v is read, %v, want %+v", got, err, m)
	}
	for at := range content {
		for bit := range 8 {
			content[at] ^= 1 << bit
			if _, err := copylog.Decode(content); !errors.Is(err, copylog.ErrDamaged) {
				t.Fatalf("bit %d of byte %d is another: %v", bit, at, err)
			}
			content[at] ^= 1 << bit
		}
		if _, err := copylog.Decode(content[:at]); !errors.Is(err, copylog.ErrDamaged) {
			t.Fatalf("only %d bytes are there: %v", at, err)
		}
	}
}

// TestAManifestThatContradictsItself is not written, and not believed.
func TestAManifestThatContradictsItself(t *testing.T) {
	for sentence, change := range map[string]func(*copylog.Manifest){
		"its head is another record":                      func(m *copylog.Manifest) { m.Head.Sequence++ },
		"its head has another chain value":                func(m *copylog.Manifest) { m.Head.Hash[1]++ },
		"it names no log":                                 func(m *copylog.Manifest) { m.Identity.LogID = "" },
		"it has no records":                               func(m *copylog.Manifest) { *m = copylog.Manifest{Identity: m.Identity} },
		"a file is missing":                               func(m *copylog.Manifest) { m.Files = m.Files[1:] },
		"a file goes on from another record":              func(m *copylog.Manifest) { m.Tail.Segments[1].Before[5]++ },
		"a file is of a later epoch":                      func(m *copylog.Manifest) { m.Files[1].Epoch = 3 },
		"a file has the name of another":                  func(m *copylog.Manifest) { m.Files[1].Object.Name = m.Files[0].Object.Name },
		"a name leads elsewhere":                          func(m *copylog.Manifest) { m.Files[1].Object.Name = "../../etc/passwd" },
		"what is derived has a name that leads elsewhere": func(m *copylog.Manifest) { m.Files[0].Derived[0].Name = "../x" },
		"what is to go has a name that leads elsewhere":   func(m *copylog.Manifest) { m.Leaving[0].Name = "../x" },
		"the manifest itself is to go":                    func(m *copylog.Manifest) { m.Leaving[0].Name = copylog.ManifestName },
		"an earlier one has a name that leads elsewhere":  func(m *copylog.Manifest) { m.Kept[0].Name = "x" },
		"the key has another name":                        func(m *copylog.Manifest) { m.Key.Name = "key" },
		"a hole is not said":                              func(m *copylog.Manifest) { m.Holes = nil },
		"the tail has no segments":                        func(m *copylog.Manifest) { m.Tail.Segments = nil },
		"the tail does not say how its file begins":       func(m *copylog.Manifest) { m.Tail.Begin = nil },
	} {
		m := manifest().Clone()
		change(m)
		if _, err := m.Encode(); err == nil {
			t.Errorf("%s, and it is written", sentence)
		}
	}
}
