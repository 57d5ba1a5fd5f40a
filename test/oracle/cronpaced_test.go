package oracle

import "testing"

// TestALookInAMinuteIsNoExcuse: lookedOnce does not explain a Job that ours starts later.
func TestALookInAMinuteIsNoExcuse(t *testing.T) {
	s, err := Parse("cronjob a schedule=@every~30s policy=Forbid\n+500ms create a\n+1m30s begin a.-1\n+1m30s succeed a.-1\n")
	if err != nil {
		t.Fatal(err)
	}
	late, err := Parse("cronjob a schedule=@every~1m policy=Forbid\n+500ms create a\n+1m30s begin a.-1\n+1m30s succeed a.-1\n")
	if err != nil {
		t.Fatal(err)
	}
	mine, err := playOurs(late, through(s), 1) // as if ours started at most one Job a minute
	if err != nil {
		t.Fatal(err)
	}
	if known, err := paced(&player{T: t}, s, through(s), 1, mine); err != nil || known != nil {
		t.Errorf("explained by %+v, %v", known, err)
	}
	if known, err := pacedOn(&player{T: t}, s, through(s), 1, mine); err != nil || known != nil {
		t.Errorf("explained by mended upstream, %+v, %v", known, err)
	}
}
