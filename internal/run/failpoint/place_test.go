package failpoint

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/store/copylog"
)

// TestPlacesPassBeforeAndAfterTheirEffect: the point before a request is passed before the place has it, and the point
// after it only when the place has done it.
func TestPlacesPassBeforeAndAfterTheirEffect(t *testing.T) {
	calls := map[string]func(copylog.Place) error{
		GetObject: func(p copylog.Place) error { _, err := p.Get(t.Context(), ""); return err },
		PutObject: func(p copylog.Place) error { return p.Put(t.Context(), "", strings.NewReader(""), 0) },
		ReplaceManifest: func(p copylog.Place) error {
			_, err := p.Replace(t.Context(), "", nil, "")
			return err
		},
		DeleteObject: func(p copylog.Place) error { return p.Delete(t.Context(), "") },
	}
	for _, verb := range placeVerbs {
		for _, refused := range []error{nil, errors.New("refused")} {
			server, before, after := &fakePlace{err: refused}, -1, -1
			at := func(point string, seen *int) *Points {
				name := point + "." + verb
				if !slices.Contains(Names(), name) {
					t.Fatalf("there is no point %q", name)
				}
				p, err := parse(name+":1", func(string) { *seen = server.calls })
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			err := calls[verb](at(PlaceAfter, &after).Place(at(PlaceBefore, &before).Place(server)))
			want := 1
			if refused != nil {
				want = -1
			}
			if !errors.Is(err, refused) || before != 0 || after != want || server.calls != 1 {
				t.Errorf("%s: %v, want %v; the place had %d calls at the point before and %d at the one after", verb, err, refused, before, after)
			}
		}
	}
}

// fakePlace counts calls.
type fakePlace struct {
	copylog.Place
	calls int
	err   error
}

func (f *fakePlace) answer() error {
	f.calls++
	return f.err
}

func (f *fakePlace) Get(context.Context, string) (copylog.Opened, error) {
	return copylog.Opened{}, f.answer()
}

func (f *fakePlace) Put(context.Context, string, io.ReaderAt, int64) error { return f.answer() }

func (f *fakePlace) Replace(context.Context, string, []byte, string) (string, error) {
	return "", f.answer()
}

func (f *fakePlace) Delete(context.Context, string) error { return f.answer() }
