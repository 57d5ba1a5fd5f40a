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

// Config says what a controller runs, and how. The flags of "jobledger run" document the fields; the code that builds a
// Config has already refused contradictory flags.
type Config struct {
	Log      string // its address, in the form that package store/open takes
	Settings events.Settings
	Cluster  *Cluster
	Program  Program
	Logger   *slog.Logger

	Listen   string        // loopback address for readers, probes and metrics; empty for none
	Scrape   ScrapeConfig  // probes and metrics for other machines
	Stream   StreamConfig  // publishing on NATS
	Copy     CopyConfig    // destination of the log's copy
	Lease    LeaseConfig   // the Lease by which only one controller of a cluster acts
	Stop     time.Duration // how long a stop waits for commands in flight
	Labels   []string      // labels of Jobs to record; nil for informer.UsualLabels
	Messages events.Keep   // how much of containers' messages is kept, where the namespace sets nothing
	Around   bool          // watch nodes and namespaces too, where the rights allow it
	Patience time.Duration // with observed Jobs, how long another controller may take to act
	Epoch    uint64        // epoch to begin after a loss of records; 0 for none
	Drained  func()        // called once, when a draining controller has nothing left to do; may be nil

	// Replicate names the stream that replicates the log; nil for a log on this disk only. The controller sets its
	// Reader, Least and Logger.
	Replicate *replicating.Config

	// Follow names the controllers that follow each other's log; nil for a log that no other controller has.
	Follow *FollowConfig

	Retention   store.Retention // how much of the log is kept
	RotateBytes int64           // size at which a file of the log is sealed; 0 for the backend's default
	PackEvery   time.Duration   // time between looks for sealed files to pack; 0 for a minute
}

// Program identifies this program.
type Program struct{ Version, Go, Commit string }

// ScrapeConfig says where and how probes and scrapers on other machines are answered.
type ScrapeConfig struct {
	Address           string // empty for no such port
	CertFile, KeyFile string // empty for plain HTTP
	Authorize         bool   // ask the API server whether a client may read metrics
	Readers           bool   // give the log's records to clients with the right to get /v1/; requires a certificate
}

// StreamConfig says what is published on NATS, and where. The zero StreamConfig publishes nothing.
type StreamConfig struct {
	Publish  publish.Config   // the controller sets Log and Logger
	Embedded *embedded.Config // the NATS server to run in this process; nil to use another server
}

// CopyConfig says where the log is copied to. The zero CopyConfig copies nothing.
type CopyConfig struct {
	Place    copylog.Place
	Unfenced bool // continue even if Place cannot keep two writers apart
}

// LeaseConfig says whether a Lease is held, and which one. The durations have the meaning of lease.Config.
type LeaseConfig struct {
	On                                   bool
	Duration, RenewDeadline, RetryPeriod time.Duration
	// Empty for the namespace of the Jobs, or lease.DefaultNamespace for Jobs of all namespaces
	Namespace string
	Adopt     bool // continue although the Lease names another log
	Alone     bool // go on alone with a log that several controllers had
}

// CopyFlag and UnfencedFlag are names of flags, for messages.
const (
	CopyFlag     = "copy-to"
	UnfencedFlag = "copy-unfenced"
)

// copyWithin bounds how long a start waits for an answer of the copy's place.
const copyWithin = 10 * time.Second
