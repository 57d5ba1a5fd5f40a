package httpport

import (
	"bytes"
	"log/slog"
	"sync"
	"time"
)

// seldom says something once in a while, however often it happens: whoever reaches the port can make it happen.
type seldom struct {
	mu     sync.Mutex
	said   time.Time // when it was said last
	untold int       // how often it happened since
}

// say logs a warning, unless that was done within the last minute.
func (s *seldom) say(logger *slog.Logger, text string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.said.IsZero() && now.Sub(s.said) < sayEvery {
		s.untold++
		return
	}
	logger.Warn(text, append(args, "alike", s.untold)...)
	s.said, s.untold = now, 0
}

// complaints is what the HTTP server writes its errors to.
type complaints struct {
	logger *slog.Logger
	shakes seldom
}

// Write is described by io.Writer. One call is one message.
func (c *complaints) Write(p []byte) (int, error) {
	text := string(bytes.TrimSpace(p))
	if bytes.HasPrefix(p, []byte("http: TLS handshake error")) {
		c.shakes.say(c.logger, text)
	} else {
		c.logger.Warn(text)
	}
	return len(p), nil
}
