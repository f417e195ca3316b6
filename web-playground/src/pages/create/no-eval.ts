import { config } from 'zod'

// The page's policy lets nobody make code from text; zod would try.
config({ jitless: true })
