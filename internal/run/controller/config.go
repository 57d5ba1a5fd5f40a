package controller

import (
	"log/slog"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats/embedded"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/run/replicating"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
)

// Config says what a controller runs, and how. The flags of "jobledger run" are its documentation; whoever makes one
// has refused what does not go together.
type Config struct {
	Log      string // its address, as package store/open takes it
	Settings events.Settings
	Cluster  *Cluster
	Program  Program
	Logger   *slog.Logger

	Listen   string        // loopback address for readers, probes and metrics; empty for none
	Scrape   ScrapeConfig  // probes and metrics for other machines
	Stream   StreamConfig  // what goes out on NATS
	Copy     CopyConfig    // where the log is copied to
	Lease    LeaseConfig   // by which one controller of a cluster works at a time
	Stop     time.Duration // how long a stop waits for what is in flight
	Labels   []string      // of Jobs, that are recorded; nil for informer.UsualLabels
	Messages events.Keep   // how much is kept of what containers write, where the namespace does not say
	Around   bool          // nodes and namespaces are watched too, where there is a right to
	Patience time.Duration // with observed Jobs, how long another controller may take
	Epoch    uint64        // to be begun after a loss of records; 0 for none
	Drained  func()        // called once, when a controller that drains has nothing left to do; may be nil

	// Replicate says in which stream the log is replicated; nil for a log that is on this disk alone. Its Reader, Least
	// and Logger are the controller's.
	Replicate *replicating.Config

	Retention   store.Retention // how much of the log is kept
	RotateBytes int64           // size at which a file of the log is sealed; 0 for that of the backend
	PackEvery   time.Duration   // between looks for sealed files to pack; 0 for a minute
}

// Program says which program this is.
type Program struct{ Version, Go, Commit string }

// ScrapeConfig says where probes and scrapers of other machines are answered, and which.
type ScrapeConfig struct {
	Address           string // empty for nowhere
	CertFile, KeyFile string // empty for plain HTTP
	Authorize         bool   // the API server is asked who may read metrics
	Readers           bool   // the log's records are given to who may get /v1/; it takes a certificate
}

// StreamConfig says what is published on NATS, and where. The zero StreamConfig publishes nothing.
type StreamConfig struct {
	Publish  publish.Config   // Log and Logger are the controller's
	Embedded *embedded.Config // of the server that runs in this process; nil for one of others
}

// CopyConfig says where the log is copied to. The zero CopyConfig copies nothing.
type CopyConfig struct {
	Place    copylog.Place
	Unfenced bool // go on where the place does not tell two writers apart
}

// LeaseConfig says whether a Lease is held, and which. The durations are those of lease.Config.
type LeaseConfig struct {
	On                                   bool
	Duration, RenewDeadline, RetryPeriod time.Duration
	Namespace                            string // that of the Jobs, else lease.DefaultNamespace, when it is empty
	Adopt                                bool   // go on though the Lease names another log
}

// CopyFlag and UnfencedFlag are flags that messages name.
const (
	CopyFlag     = "copy-to"
	UnfencedFlag = "copy-unfenced"
)

// copyWithin is how long a start waits for the place of the copy.
const copyWithin = 10 * time.Second
