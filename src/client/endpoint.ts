/** The path of the API. */
const PATH = '/graphql'

/** The endpoint of a server that is named by its address alone, as the server prints it; any other URL as it is. */
export function endpointOf(url: URL): URL {
  if (url.pathname !== '/') return url
  const endpoint = new URL(url)
  endpoint.pathname = PATH
  return endpoint
}
