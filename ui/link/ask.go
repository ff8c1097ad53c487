package link

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mpitx/catalog"
)

// await sends a request and waits for its answer. The ranks' time limit is a little shorter than ours, so that the ranks that do not
// hang can answer.
func (c *Client) await(ctx context.Context, r Request, limit time.Duration) (*Reply, error) {
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline)
	}
	limit -= min(limit/5, 2*time.Second)
	r.Millis = max(1, limit.Milliseconds())
	answer := make(chan *Reply, 1)
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, c.err
	}
	c.nextID++
	r.ID = c.nextID
	c.waiting[r.ID] = answer
	c.mu.Unlock()
	go c.ask(r)
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return nil, c.err
		case m.Is == IsError:
			return nil, errors.New(m.Text)
		}
		return m, nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, r.ID)
		c.mu.Unlock()
		go c.ask(Request{ID: r.ID, Do: DoCancel})
		return nil, ctx.Err()
	}
}

// Read implements Backend. It asks for many variables in several requests, one after the other.
func (c *Client) Read(ctx context.Context, ids []string) (*Sample, error) {
	numbers := make([]int, len(ids))
	c.mu.Lock()
	there, err := c.catalog != nil, c.err
	unknown := slices.IndexFunc(ids, func(id string) bool { _, ok := c.numbers.Of(id); return !ok })
	for k, id := range ids {
		numbers[k], _ = c.numbers.Of(id)
	}
	c.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, errors.New("read: no catalog yet")
	case unknown >= 0:
		return nil, fmt.Errorf("read %q: not in the catalog", ids[unknown])
	}
	if len(ids) == 0 {
		return &Sample{Time: time.Now()}, nil
	}
	var whole *Sample
	for page := range slices.Chunk(numbers, perRead) {
		m, err := c.await(ctx, Request{Do: DoRead, Variables: page}, readLimit)
		if err != nil {
			return nil, err
		}
		s := &Sample{Time: time.UnixMilli(m.Millis), Ranks: m.Ranks, Silent: m.Silent}
		for _, r := range s.Ranks {
			if len(r.Readings) != len(page) {
				return nil, fmt.Errorf("read: rank %d answered for %d variables of %d", r.Rank, len(r.Readings), len(page))
			}
		}
		if whole = join(whole, s); len(whole.Ranks) == 0 {
			break
		}
	}
	return whole, nil
}

// join appends the next page to a sample. It drops ranks that fell silent in between.
func join(a, b *Sample) *Sample {
	if a == nil {
		return b
	}
	var ranks []RankSample
	for _, r := range a.Ranks {
		k := slices.IndexFunc(b.Ranks, func(o RankSample) bool { return o.Rank == r.Rank })
		if k < 0 {
			a.Silent = append(a.Silent, r.Rank)
			continue
		}
		r.Readings = append(r.Readings, b.Ranks[k].Readings...)
		ranks = append(ranks, r)
	}
	a.Ranks = ranks
	slices.Sort(a.Silent)
	a.Silent = slices.Compact(a.Silent)
	return a
}

// Write implements Backend.
func (c *Client) Write(ctx context.Context, w catalog.WriteRequest) (catalog.Outcomes, error) {
	m, err := c.await(ctx, Request{Do: DoWrite, Write: &w}, writeLimit)
	if err != nil {
		return nil, err
	}
	return catalog.Outcomes(m.Outcomes), nil
}

// Refresh implements Backend.
func (c *Client) Refresh(ctx context.Context) (*catalog.Catalog, error) {
	if _, err := c.await(ctx, Request{Do: DoRefresh}, refreshLimit); err != nil {
		return nil, err
	}
	return c.present()
}

// Workload implements Backend.
func (c *Client) Workload(ctx context.Context, name string) error {
	if name != "" && !slices.Contains(Workloads, name) {
		return fmt.Errorf("workload %q: unknown", name)
	}
	_, err := c.await(ctx, Request{Do: DoWorkload, Name: name}, writeLimit)
	return err
}
