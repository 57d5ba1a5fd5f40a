package httpport

import (
	"bytes"
	"log/slog"
	"sync"
	"time"
)

// seldom logs a message at most once a minute, because anyone who can reach the port can cause the message.
type seldom struct {
	mu     sync.Mutex
	said   time.Time // time of the last message
	untold int       // messages that were not logged since then
}

// say logs a warning, with the number of warnings that it left out before. If the last one is less than a minute ago,
// it leaves this one out.
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

// complaints is the error log of the HTTP server. Errors of TLS handshakes, which any client can cause, are logged at
// most once a minute.
type complaints struct {
	logger *slog.Logger
	shakes seldom
}

// Write implements io.Writer: it logs one message of the HTTP server.
func (c *complaints) Write(p []byte) (int, error) {
	text := string(bytes.TrimSpace(p))
	if bytes.HasPrefix(p, []byte("http: TLS handshake error")) {
		c.shakes.say(c.logger, text)
	} else {
		c.logger.Warn(text)
	}
	return len(p), nil
}
