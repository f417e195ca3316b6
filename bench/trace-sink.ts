import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Takes traces by OTLP and keeps none: a process of its own, which tells its port and ends with its channel. */
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
