// The kernel's table of routes and links, over rtnetlink. Every function returns >= 0, or -errno.
#pragma once

/// A close-on-exec socket that becomes readable when a link, an address or a route of this network namespace changes.
int clinux_route_events(void);
/// Drops what waits in it, an overflow too, so that only later changes make it readable.
int clinux_route_events_discard(int events);

/// A close-on-exec socket for ``clinux_route_request``; it never waits.
int clinux_route_socket(void);
enum clinux_route_list { CLINUX_LINKS, CLINUX_ROUTES };
/// Asks for all links, or all routes. The answer lies in the socket at once, in several datagrams of at most 32 KiB; the last
/// message is NLMSG_DONE.
int clinux_route_request(int socket, enum clinux_route_list list);
