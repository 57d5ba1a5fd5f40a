package ask

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// damaged is a log of which a part cannot be read.
type damaged struct{ history.Source }

func (damaged) Beside(err error) bool { return errors.Is(err, store.ErrCorrupt) }

// TestAPageBesideDamage has what can be read, with the error. Nothing readable is not "nothing there", unless more
// pages follow.
func TestAPageBesideDamage(t *testing.T) {
	bad := &store.CorruptError{Path: "x", At: 5}
	for _, row := range []struct {
		items         int
		more          string
		err           error
		answer, wrong bool
	}{
		{2, "", nil, true, false}, {0, "", nil, true, false}, {2, "", bad, true, false}, {0, "", bad, false, false}, {0, "9", bad, true, false},
		{2, "9", context.Canceled, false, false}, {2, "9", fmt.Errorf("x: %w", history.ErrQuery), false, true},
	} {
		got, err := page(new(int), row.items, row.more, Source{Source: damaged{}}, row.err)
		wrong := (*which.WrongError)(nil)
		if (got != nil) != row.answer || (err != nil) != (row.err != nil) || errors.As(err, &wrong) != row.wrong {
			t.Errorf("%+v: answered %t, %v", row, got != nil, err)
		}
	}
	var damage store.Damage
	src := Source{Damage: &damage}
	if src.firstDamage() != nil {
		t.Error("a whole log is damaged")
	}
	damage.Note(bad)
	damage.Note(&store.CorruptError{Path: "x", At: 9})
	if got := src.firstDamage(); got == nil || got.At != 5 {
		t.Errorf("the first damage is %v", got)
	}
}

// TestAQuestionIsAskedElsewhere if another process has the log. Without an answer there, there is none.
func TestAQuestionIsAskedElsewhere(t *testing.T) {
	for _, row := range []struct {
		there bool
		err   error
	}{{true, nil}, {true, context.Canceled}, {false, context.Canceled}} {
		q := Get.New()
		if err := q.Read([]string{"job/prod/etl"}); err != nil {
			t.Fatal(err)
		}
		var asked Remote
		answer, err := q.Ask(t.Context(), Source{Elsewhere: func(_ context.Context, r Remote) (bool, error) {
			asked = r
			return row.there, row.err
		}})
		if (answer != nil) != row.there || !errors.Is(err, row.err) || asked.Name != "get" || fmt.Sprint(asked.Path) != "[job prod etl]" {
			t.Errorf("%+v: %v, %v, asked %+v", row, answer, err, asked)
		}
	}
}
