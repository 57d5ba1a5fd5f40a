package cli

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// TestShortReadingsShowNothing: nothing is shown for a reading of a second or less, and nothing after the answer.
func TestShortReadingsShowNothing(t *testing.T) {
	var screen bytes.Buffer
	clock := time.Unix(0, 0)
	r := NewReading(&screen, func() time.Time { return clock })
	clock = clock.Add(readingAfter)
	if r.record(); screen.Len() > 0 {
		t.Errorf("after a second it shows %q", &screen)
	}
	clock = clock.Add(time.Millisecond)
	r.record()
	r.record() // too soon
	if got := screen.String(); got != "\rreading the log: 2 records" {
		t.Errorf("it shows %q", got)
	}
	screen.Reset()
	if _, err := io.WriteString(&shownBy{&screen, r, true}, "answer\n"); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(time.Minute)
	if r.record(); screen.String() != "\r\x1b[Kanswer\n" {
		t.Errorf("behind the answer it shows %q", &screen)
	}
}
