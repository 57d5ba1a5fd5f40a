package link

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
)

// Main simulates a network as a program of its own; args are those of Args. It prints the address at which it listens,
// and ends with ctx.
func Main(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("link", flag.ContinueOnError)
	to := flags.String("to", "", "address of the API server")
	delay := flags.Duration("delay", 0, "how long a byte is under way: half of the round trip")
	rate := flags.Float64("rate", 0, "bytes a second in each direction; 0: no limit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return fmt.Errorf("say where: %w", err)
	}
	return Line{Delay: *delay, Rate: *rate}.Serve(ctx, listener, *to)
}

// Args returns the arguments with which Main simulates the network l. to is the address of the API server.
func (l Line) Args(to string) []string {
	return []string{"--to=" + to, "--delay=" + l.Delay.String(), fmt.Sprintf("--rate=%g", l.Rate)}
}
