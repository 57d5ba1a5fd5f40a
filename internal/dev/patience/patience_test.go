package patience

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestLengthIsReadFromTheEnvironment(t *testing.T) {
	for _, row := range []struct {
		text string
		want time.Duration
	}{{"", usual}, {"90s", 90 * time.Second}, {"1h", time.Hour}, {"90", 0}, {"-1s", 0}, {"0s", 0}, {"soon", 0}} {
		if got, err := parse(row.text); got != row.want || (err == nil) != (row.want > 0) {
			t.Errorf("%q: %s, %v", row.text, got, err)
		}
	}
}

func TestUntil(t *testing.T) {
	wrong := errors.New("wrong")
	const open, closed = false, true
	for _, row := range []struct {
		name  string
		ended bool
		after int // the condition holds from the nth question on
		err   error
		want  error
		took  time.Duration
	}{
		{"it holds at once", open, 1, nil, nil, 0},
		{"it holds later", open, 4, nil, nil, 3 * time.Second},
		{"it never holds", open, 1 << 20, nil, context.DeadlineExceeded, time.Minute},
		{"it fails", open, 3, wrong, wrong, 2 * time.Second},
		{"the process has ended", closed, 1 << 20, nil, ErrEnded, 0},
		{"the last deed of the process", closed, 2, nil, nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				ended := make(chan struct{}) // of this bubble
				if row.ended {
					close(ended)
				}
				began, asked := time.Now(), 0
				err := Until(ctx, time.Second, ended, func() (bool, error) {
					asked++
					return asked == row.after && row.err == nil, map[bool]error{true: row.err}[asked == row.after]
				})
				if took := time.Since(began); !errors.Is(err, row.want) || (err == nil) != (row.want == nil) || took != row.took {
					t.Errorf("%v after %s, want %v after %s", err, took, row.want, row.took)
				}
			})
		})
	}
}

func TestContextSaysWhoSetTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := Several(t.Context(), 2)
		defer cancel()
		began := time.Now()
		<-ctx.Done()
		if took := time.Since(began); took != 2*Time() {
			t.Errorf("it ended after %s", took)
		}
		if cause := context.Cause(ctx).Error(); cause != "it did not come within "+(2*Time()).String()+" (JOBLEDGER_PATIENCE)" {
			t.Errorf("it ended with %q", cause)
		}
	})
}
