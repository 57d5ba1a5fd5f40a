package httpport

import (
	"bytes"
	"log/slog"
	"sync"
	"time"
)

// seldom limits a log message to one per minute, because anyone who can reach the port can cause it.
type seldom struct {
	mu     sync.Mutex
	said   time.Time // time of the last message
	untold int       // number of times that the message was suppressed since then
}

// say logs a warning, unless it did so within the last minute.
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

// complaints is the error log of the HTTP server. It limits messages about failed TLS handshakes.
type complaints struct {
	logger *slog.Logger
	shakes seldom
}

// Write implements io.Writer. Each call writes one message.
func (c *complaints) Write(p []byte) (int, error) {
	text := string(bytes.TrimSpace(p))
	if bytes.HasPrefix(p, []byte("http: TLS handshake error")) {
		c.shakes.say(c.logger, text)
	} else {
		c.logger.Warn(text)
	}
	return len(p), nil
}
