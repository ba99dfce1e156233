domain ferry
