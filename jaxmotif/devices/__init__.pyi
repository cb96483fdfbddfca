from jaxmotif.devices._gather import ClusterError as ClusterError
from jaxmotif.devices._select import Cluster as Cluster
from jaxmotif.devices._select import Devices as Devices
from jaxmotif.devices._select import Hybrid as Hybrid
