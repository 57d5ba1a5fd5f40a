package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// logger tells of the server what a person must know. It is safe for concurrent use.
type logger struct {
	log *slog.Logger

	mu     sync.Mutex
	told   time.Time // when it last told of a connection
	untold int       // messages about connections since

	hurt atomic.Bool // the server could not write a stream, and does not try again
}

// critical is in what the server says when a stream could not be written, as its disk is full. The stream takes nothing
// more, also when there is room again, until the server starts anew.
const critical = "ritical write error"

// aboutEvery is how often the log tells what connections do wrong: whoever connects could fill it.
const aboutEvery = time.Minute

// ofConnection is in each message about one.
const ofConnection = " - cid:"

func (l *logger) say(level slog.Level, format string, v []any) {
	text := "nats-server: " + fmt.Sprintf(format, v...)
	if strings.Contains(text, critical) {
		l.hurt.Store(true)
	}
	if level < slog.LevelWarn || !strings.Contains(text, ofConnection) {
		l.log.Log(context.Background(), level, text)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.told) < aboutEvery {
		l.untold++
		return
	}
	l.log.Warn(text, "alike", l.untold)
	l.told, l.untold = time.Now(), 0
}

func (l *logger) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }
func (l *logger) Warnf(format string, v ...any)   { l.say(slog.LevelWarn, format, v) }
func (l *logger) Fatalf(format string, v ...any)  { l.say(slog.LevelError, format, v) }
func (l *logger) Errorf(format string, v ...any)  { l.say(slog.LevelError, format, v) }
func (l *logger) Debugf(format string, v ...any)  { l.say(slog.LevelDebug, format, v) }
func (l *logger) Tracef(format string, v ...any)  { l.say(slog.LevelDebug, format, v) }
