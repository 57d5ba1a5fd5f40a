package drive

// handOver ends the process, in good order or not, and the other controller takes over: it knows what its own log says,
// from when it had its last turn, and the cluster as it is (O-008). What the one that goes has still on its way arrives
// late, if at all.
func (d *Driver) handOver() error {
	if d.rng.IntN(2) == 0 {
		d.fall()
	} else if err := d.end(); err != nil {
		return err
	}
	d.log, d.resting = d.resting, d.log
	if d.log == nil {
		d.newLog()
	}
	d.say("log %s takes over", d.log.Identity().LogID)
	d.checker.LogLost()
	return d.boot()
}
