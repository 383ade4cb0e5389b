package history

// CacheBytes bounds what a Cache holds.
const CacheBytes = cacheBytes

// Bytes returns what c holds, in bytes.
func (c *Cache) Bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// NewDenseCache returns a Cache that has a keyframe for every few records.
func NewDenseCache(spill Spill) *Cache {
	return &Cache{spill: spill, spacing: spacing{every: 32 << 10}}
}
