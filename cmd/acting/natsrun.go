package acting

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/embedded"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/run/controller"
)

// streamFlags are the flags about publishing records on NATS. Nothing is published unless they name a server, or ask
// for one in this process.
type streamFlags struct {
	natsFlags
	cluster  string
	stream   publish.StreamConfig
	maxBytes string
	data     string
	core     bool

	embedded      bool
	listen        string
	embeddedBytes string
}

// contentTypes maps the values of --nats-data to content types.
var contentTypes = map[string]string{"protobuf": nats.Protobuf, "json": nats.JSON}

const (
	defaultMaxAge = 7 * 24 * time.Hour
	natsDir       = "nats" // folder in the log's directory, in which the NATS server in this process stores its data
)

func (f *streamFlags) add(cmd *cobra.Command) {
	f.natsFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.cluster, "cluster", "default", "name of this cluster in NATS subjects; one controller only may use it")
	flags.StringVar(&f.stream.Name, "nats-stream", "", "JetStream stream; unless given the one with this cluster's subjects, which is made if there is none")
	flags.IntVar(&f.stream.Replicas, "nats-replicas", 1, "servers that hold the stream, when it is made")
	flags.DurationVar(&f.stream.MaxAge, "nats-max-age", defaultMaxAge, "how long messages are kept, when the stream is made; 0 for ever")
	flags.StringVar(&f.maxBytes, "nats-max-bytes", "", "size of the stream, such as 10Gi, when it is made; no bound unless given")
	flags.StringVar(&f.data, "nats-data", "protobuf", "form of the data: protobuf or json")
	flags.BoolVar(&f.core, "nats-core", false, "publish over core NATS, without a stream: whoever does not listen at that moment misses it")
	flags.BoolVar(&f.embedded, "nats-embedded", false, "run a NATS server in this process and publish there")
	flags.StringVar(&f.listen, "nats-listen", "127.0.0.1:4222", "loopback address of the server in this process; port 0 for any")
	flags.StringVar(&f.embeddedBytes, "nats-embedded-size", "1Gi", "what the server in this process may take on disk, in the log's directory")
	cli.CompleteWith(cmd, "nats-data", "protobuf", "json")
}

// wanted reports whether records are to be published.
func (f *streamFlags) wanted() bool { return f.embedded || f.where() }

// validate returns a usage error for values and flags that contradict each other.
func (f *streamFlags) validate() error {
	if err := f.check(); err != nil {
		return err
	}
	switch {
	case f.embedded && f.where():
		return cli.Usage("--nats-embedded runs a server in this process, --nats-url and --nats-context name another: give one of them")
	case contentTypes[f.data] == "":
		return cli.Usage("--nats-data=%s: must be protobuf or json", f.data)
	case f.cluster == "":
		return cli.Usage("--cluster: a name is wanted")
	case f.stream.Replicas < 1 || f.stream.Replicas > 5:
		return cli.Usage("--nats-replicas=%d: must be from 1 to 5", f.stream.Replicas)
	case f.stream.MaxAge < 0:
		return cli.Usage("--nats-max-age=%s: cannot be negative", f.stream.MaxAge)
	}
	var err error
	if f.maxBytes != "" {
		if f.stream.MaxBytes, err = size("nats-max-bytes", f.maxBytes); err != nil {
			return err
		}
	}
	_, err = size("nats-embedded-size", f.embeddedBytes)
	return err
}

// goTogether returns a usage error for flags that have no effect together with the other flags.
func (f *streamFlags) goTogether(flags *pflag.FlagSet) error {
	refuse := func(why string, names ...string) error {
		for _, name := range names {
			if flags.Changed("nats-" + name) {
				return cli.Usage("--nats-%s: %s", name, why)
			}
		}
		return nil
	}
	connection := []string{"creds", "nkey", "ca", "cert", "key", "tls-first", "domain"}
	stream := []string{"stream", "replicas", "max-age", "max-bytes"}
	server := []string{"listen", "embedded-size"}
	if !f.wanted() {
		return refuse("nothing goes out on NATS unless --nats-url, --nats-context or --nats-embedded says where",
			slices.Concat(connection, stream, server, []string{"data", "core"})...)
	}
	var ofServer, ofStream error
	if f.embedded {
		ofServer = refuse("it is about a server of others, and --nats-embedded runs one in this process", connection...)
	} else {
		ofServer = refuse("it goes with --nats-embedded", server...)
	}
	if f.core {
		ofStream = refuse("--nats-core publishes without a stream", stream...)
	}
	return cmp.Or(ofServer, ofStream)
}

// size returns the number of bytes of a size in the format of Kubernetes, such as 10Gi. flag is its flag, for errors.
func size(flag, text string) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Value() <= 0 {
		return 0, cli.Usage("--%s=%s: a size is wanted, such as 10Gi", flag, text)
	}
	return q.Value(), nil
}

// server returns the configuration of the NATS server in this process, and of the stream with the records. The stream
// gets 9/10 of the server's space: a full stream drops its oldest messages, but a full server accepts no messages.
func (f *streamFlags) server(log string) (embedded.Config, publish.StreamConfig, error) {
	room, err := size("nats-embedded-size", f.embeddedBytes)
	stream := f.stream
	if stream.MaxBytes == 0 {
		stream.MaxBytes = room / 10 * 9
	}
	return embedded.Config{
		Dir: filepath.Join(log, natsDir), Listen: f.listen, MaxBytes: room,
		ReaderSecret: filepath.Join(log, controller.ReaderFile), OwnerSecret: filepath.Join(log, controller.OwnerFile),
	}, stream, err
}

// config returns what the controller publishes. log is the log's directory.
func (f *streamFlags) config(log string) (c controller.StreamConfig, err error) {
	if !f.wanted() {
		return c, nil
	}
	c.Publish = publish.Config{
		Cluster: f.cluster, Dial: f.Config, Stream: f.stream, Core: f.core, ContentType: contentTypes[f.data],
	}
	if f.embedded {
		server, stream, err := f.server(log)
		if err != nil {
			return c, err
		}
		c.Embedded, c.Publish.Stream = &server, stream
	}
	return c, nil
}
