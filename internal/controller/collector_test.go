package controller

import "testing"

func TestGarbageHasRoomWhileLittleIsAlive(t *testing.T) {
	for _, row := range []struct {
		name  string
		alive uint64
		want  int
	}{
		{name: "nothing is alive", alive: 0, want: 300},
		{name: "a few Jobs", alive: 8 << 20, want: 300},
		{name: "some thousand Jobs", alive: 24 << 20, want: 200},
		{name: "a large cluster has Go's own rule", alive: 1 << 30, want: 100},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := collectorPercent(row.alive); got != row.want {
				t.Errorf("GOGC is %d, want %d", got, row.want)
			}
		})
	}
}
