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

// Config says what a controller runs, and how. The flags of "jobledger run" document the fields. The code that builds a
// Config from the flags refuses flags that contradict each other.
type Config struct {
	Log      string // address of the log, in the form that package store/open accepts
	Settings events.Settings
	Cluster  *Cluster
	Program  Program
	Logger   *slog.Logger

	Listen   string        // loopback address for readers, probes and metrics; empty for none
	Scrape   ScrapeConfig  // probes and metrics for other machines
	Stream   StreamConfig  // publishing of the log on NATS
	Copy     CopyConfig    // where to copy the log to
	Lease    LeaseConfig   // the Lease by which only one controller of a cluster acts
	Stop     time.Duration // how long a stop waits for commands in flight
	Labels   []string      // labels of Jobs to record; nil for observation.UsualLabels
	Messages events.Keep   // how much of containers' messages is kept, where the namespace does not set this
	Around   bool          // record nodes and namespaces too, if the rights allow to watch them
	Patience time.Duration // how long another controller may take to act on an observed Job before it counts as late
	Epoch    uint64        // epoch (life of the log) to begin after a loss of records (--force-new-epoch); 0 for none
	// called once, when a controller that takes no new Jobs (--drain) has no work left; may be nil
	Drained func()

	// Replicate names the NATS stream that replicates the log; nil for a log on this disk only. The controller sets its
	// Reader, Least and Logger.
	Replicate *replicating.Config

	// Follow names the controllers that copy the log from whichever of them leads (--follow); nil if no other
	// controller has this log.
	Follow *FollowConfig

	Retention store.Retention // how much of the log is kept
	// size in bytes at which a file of the log is complete and a new one begins; 0 for the backend's default
	RotateBytes int64
	PackEvery   time.Duration // time between checks for complete files to compress; 0 for a minute
}

// Program identifies this program.
type Program struct{ Version, Go, Commit string }

// ScrapeConfig says where and how probes and scrapers on other machines are answered.
type ScrapeConfig struct {
	Address           string // empty for no such port
	CertFile, KeyFile string // empty for plain HTTP
	Authorize         bool   // ask the API server whether a client may read metrics
	// give the log's records to clients whose rights include a get of the URL /v1/; requires a certificate
	Readers bool
}

// StreamConfig says what is published on NATS, and where. The zero StreamConfig publishes nothing.
type StreamConfig struct {
	Publish  publish.Config   // the controller sets Log and Logger
	Embedded *embedded.Config // the NATS server to run in this process; nil to use another server
}

// CopyConfig says where the log is copied to. The zero CopyConfig copies nothing.
type CopyConfig struct {
	Place    copylog.Place
	Unfenced bool // continue even if Place cannot prevent two processes from writing the copy
}

// LeaseConfig says whether the controller needs a Lease to act, and which one. The durations have the meaning of
// lease.Config.
type LeaseConfig struct {
	On                                   bool
	Duration, RenewDeadline, RetryPeriod time.Duration
	// Namespace of the Lease. Empty for the namespace of the Jobs, or lease.DefaultNamespace for Jobs of all namespaces
	Namespace string
	Adopt     bool // continue although the Lease names another log, and write the ID of this log into it
	Alone     bool // continue without the other controllers that shared this log
}

// CopyFlag and UnfencedFlag are the names of the flags that set CopyConfig; messages name them.
const (
	CopyFlag     = "copy-to"
	UnfencedFlag = "copy-unfenced"
)

// copyWithin limits how long the start of a controller waits for an answer from the place where the copy of the log is.
const copyWithin = 10 * time.Second
