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

// logger passes those messages of the NATS server that a person must know to our log. It is safe for concurrent use.
type logger struct {
	log *slog.Logger

	mu     sync.Mutex
	told   time.Time // when it last logged a message about a client's connection
	untold int       // number of messages about connections that it dropped since then

	hurt atomic.Bool // the server failed to write a stream, and does not retry
}

// critical is a part of the server's message about a failed write to a stream, for example because the disk is full.
// The stream accepts nothing more until the server restarts, even if there is space again.
const critical = "ritical write error"

// aboutEvery is the shortest time between two logged messages about connections: clients could otherwise fill the log.
const aboutEvery = time.Minute

// ofConnection is in each message of the server about a connection.
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
